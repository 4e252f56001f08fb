// Interposition: the loader reads these pairs before it binds anything, and gives every other library, the system's too, the replacement where
// it asks for the system's function. Our own calls stay as they are. Which functions there are is in interposed.txt; the check of the built
// library compares.
//
// Both sides are named by symbol, so that no header has a say in their types: only the addresses matter.
namespace {

struct Pair {
  void (*replacement)();
  void (*system)();
};

}  // namespace

#define HAKOZUNA_INTERPOSE(name, replacement)                                  \
  extern "C" __attribute__((visibility("hidden"))) void replacement();        \
  extern "C" void system_##name() asm("_" #name);                             \
  [[gnu::used, gnu::section("__DATA,__interpose,regular,no_dead_strip")]] static const Pair pair_of_##name = {replacement, system_##name};

// C. The others that take or give blocks (strdup, asprintf, malloc_zone_malloc and its relatives) come to these or to the zone.
HAKOZUNA_INTERPOSE(malloc, replaced_malloc)
HAKOZUNA_INTERPOSE(free, replaced_free)
HAKOZUNA_INTERPOSE(calloc, replaced_calloc)
HAKOZUNA_INTERPOSE(realloc, replaced_realloc)
HAKOZUNA_INTERPOSE(reallocf, replaced_reallocf)
HAKOZUNA_INTERPOSE(valloc, replaced_valloc)
HAKOZUNA_INTERPOSE(aligned_alloc, replaced_aligned_alloc)
HAKOZUNA_INTERPOSE(posix_memalign, replaced_posix_memalign)
HAKOZUNA_INTERPOSE(malloc_size, replaced_malloc_size)
HAKOZUNA_INTERPOSE(malloc_good_size, replaced_malloc_good_size)

// operator new, new[].
HAKOZUNA_INTERPOSE(_Znwm, replaced_new)
HAKOZUNA_INTERPOSE(_Znam, replaced_new)
HAKOZUNA_INTERPOSE(_ZnwmRKSt9nothrow_t, replaced_new_nothrow)
HAKOZUNA_INTERPOSE(_ZnamRKSt9nothrow_t, replaced_new_nothrow)
HAKOZUNA_INTERPOSE(_ZnwmSt11align_val_t, replaced_new_aligned)
HAKOZUNA_INTERPOSE(_ZnamSt11align_val_t, replaced_new_aligned)
HAKOZUNA_INTERPOSE(_ZnwmSt11align_val_tRKSt9nothrow_t, replaced_new_aligned_nothrow)
HAKOZUNA_INTERPOSE(_ZnamSt11align_val_tRKSt9nothrow_t, replaced_new_aligned_nothrow)

// operator delete, delete[].
HAKOZUNA_INTERPOSE(_ZdlPv, replaced_delete)
HAKOZUNA_INTERPOSE(_ZdaPv, replaced_delete)
HAKOZUNA_INTERPOSE(_ZdlPvRKSt9nothrow_t, replaced_delete)
HAKOZUNA_INTERPOSE(_ZdaPvRKSt9nothrow_t, replaced_delete)
HAKOZUNA_INTERPOSE(_ZdlPvm, replaced_delete_sized)
HAKOZUNA_INTERPOSE(_ZdaPvm, replaced_delete_sized)
HAKOZUNA_INTERPOSE(_ZdlPvSt11align_val_t, replaced_delete)
HAKOZUNA_INTERPOSE(_ZdaPvSt11align_val_t, replaced_delete)
HAKOZUNA_INTERPOSE(_ZdlPvSt11align_val_tRKSt9nothrow_t, replaced_delete)
HAKOZUNA_INTERPOSE(_ZdaPvSt11align_val_tRKSt9nothrow_t, replaced_delete)
HAKOZUNA_INTERPOSE(_ZdlPvmSt11align_val_t, replaced_delete_sized)
HAKOZUNA_INTERPOSE(_ZdaPvmSt11align_val_t, replaced_delete_sized)
