// Our malloc zone: what of macOS does not call malloc() by name comes to us by it (malloc_zone_malloc and its relatives, Core Foundation, the typed
// functions of later systems, leaks and vmmap), and free() of the system's own library finds our blocks by it.
#pragma once

namespace hakozuna::api {

// Registers it and makes it the default zone. Once in a process.
void register_zone();

}  // namespace hakozuna::api
