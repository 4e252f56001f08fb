// What a format of libraries needs to be done when the library is loaded, beside what its linker and loader do by themselves.
#pragma once

namespace hakozuna::api {

// Sees to it that forks are seen, and that who asks the system for its allocator gets us. When the library is loaded, and maybe before.
void open_front_door();

}  // namespace hakozuna::api
