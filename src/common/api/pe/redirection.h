// Puts the line in the place of the C runtimes' allocators, in the whole process.
//
// A runtime's functions are reached in two ways, and both are changed: the import tables of the modules that are loaded, which hold addresses the
// loader has looked up, and the runtime's own export table, in which it and GetProcAddress() look up from then on. A module that is loaded later
// finds us by itself; a runtime that is loaded later is treated in the same way as soon as the loader tells of it.
//
// What a runtime calls within itself, as _strdup() calls malloc, stays its own; such blocks come to us to be freed and go back to it.
#pragma once

namespace hakozuna::api {

// Once, from the library's entry point, under the loader's lock. False if the loader will not tell us of modules: then nothing is changed.
bool redirect_runtimes();

}  // namespace hakozuna::api
