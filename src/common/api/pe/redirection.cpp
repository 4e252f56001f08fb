#include "common/api/pe/redirection.h"

#include <winternl.h>

#include "common/api/pe/runtime_functions.h"
#include "common/os/windows/module_image.h"
#include "common/os/windows/runtimes.h"

// The loader's own interface; documented, but in no header of the SDK.
namespace {

struct LoadedModule {
  ULONG flags;
  const UNICODE_STRING* full_name;
  const UNICODE_STRING* base_name;
  void* base;
  ULONG bytes;
};
constexpr ULONG kLoaded = 1;

struct LoaderEntry {  // the beginning of LDR_DATA_TABLE_ENTRY
  LIST_ENTRY in_load_order;
  LIST_ENTRY in_memory_order;
  LIST_ENTRY in_initialisation_order;
  void* base;
  void* entry_point;
  ULONG bytes;
  UNICODE_STRING full_name;
  UNICODE_STRING base_name;
};

}  // namespace

extern "C" {
__declspec(dllimport) NTSTATUS NTAPI LdrRegisterDllNotification(ULONG flags, void(CALLBACK* notify)(ULONG, const LoadedModule*, void*),
                                                                void* context, void** cookie);
__declspec(dllimport) NTSTATUS NTAPI LdrEnumerateLoadedModules(ULONG flags, void(CALLBACK* visit)(const LoaderEntry*, void*, BOOLEAN*),
                                                               void* context);
}

namespace hakozuna::api {
namespace {

struct Replacement {
  const char* name;
  void* function;
};

template <class Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

constexpr size_t kNameCount = 25;

template <size_t kRuntime>
const Replacement* replacements() {
  using Ours = RuntimeFunctions<kRuntime>;
  static const Replacement table[kNameCount] = {
      {"malloc", address_of(Ours::malloc)},
      {"calloc", address_of(Ours::calloc)},
      {"realloc", address_of(Ours::realloc)},
      {"free", address_of(Ours::free)},
      {"_malloc_base", address_of(Ours::malloc)},
      {"_calloc_base", address_of(Ours::calloc)},
      {"_realloc_base", address_of(Ours::realloc)},
      {"_free_base", address_of(Ours::free)},
      {"_msize", address_of(Ours::msize)},
      {"_msize_base", address_of(Ours::msize)},
      {"_expand", address_of(Ours::expand)},
      {"_expand_base", address_of(Ours::expand)},
      {"_recalloc", address_of(Ours::recalloc)},
      {"_recalloc_base", address_of(Ours::recalloc)},
      {"_aligned_malloc", address_of(Ours::aligned_malloc)},
      {"_aligned_free", address_of(Ours::aligned_free)},
      {"_aligned_realloc", address_of(Ours::aligned_realloc)},
      {"_aligned_recalloc", address_of(Ours::aligned_recalloc)},
      {"_aligned_msize", address_of(Ours::aligned_msize)},
      {"_aligned_offset_realloc", address_of(Ours::aligned_offset_realloc)},
      {"_aligned_offset_recalloc", address_of(Ours::aligned_offset_recalloc)},
      // msvcrt's operator delete and delete[], plain and sized: they free what any operator new got from malloc. Its operator new stays, for the
      // new-handler is its own.
      {"??3@YAXPEAX@Z", address_of(Ours::free)},
      {"??_V@YAXPEAX@Z", address_of(Ours::free)},
      {"??3@YAXPEAX_K@Z", address_of(Ours::free)},
      {"??_V@YAXPEAX_K@Z", address_of(Ours::free)},
  };
  return table;
}

constexpr const Replacement* (*kReplacements[])() = {replacements<0>, replacements<1>};
static_assert(sizeof kReplacements / sizeof kReplacements[0] == os::kRuntimeCount);

// The runtime's function of each name, null where it has none; and ours. Written under the loader's lock, before the runtime counts as redirected.
void* originals[os::kRuntimeCount][kNameCount];
bool redirected[os::kRuntimeCount];

void* replacement_for(const void* function) {
  for (size_t runtime = 0; runtime < os::kRuntimeCount; ++runtime) {
    if (!redirected[runtime]) continue;
    for (size_t i = 0; i < kNameCount; ++i) {
      if (originals[runtime][i] == function) return kReplacements[runtime]()[i].function;
    }
  }
  return nullptr;
}

void redirect_imports(HMODULE module) {
  os::ModuleImage(module).for_each_import([](void** slot) {
    if (void* const ours = replacement_for(*slot)) os::store_protected(slot, ours);
  });
}

// Export tables hold 32-bit distances from the module, and we may be further away: a page within reach jumps to us.
class JumpPage {
 public:
  explicit JumpPage(const os::ModuleImage& module) : module_(module.base()) {
    constexpr size_t kGranule = size_t{64} << 10;
    constexpr size_t kReach = size_t{2} << 30;
    for (size_t distance = align_up(module.bytes(), kGranule); distance < kReach && !next_; distance += kGranule) {
      MEMORY_BASIC_INFORMATION found;
      if (!VirtualQuery(module_ + distance, &found, sizeof found) || found.State != MEM_FREE) continue;
      next_ = static_cast<unsigned char*>(
          VirtualAlloc(module_ + distance, kNameCount * kJumpBytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE));
    }
    start_ = next_;
  }
  ~JumpPage() {
    DWORD before;
    if (start_) VirtualProtect(start_, kNameCount * kJumpBytes, PAGE_EXECUTE_READ, &before);
  }
  JumpPage(const JumpPage&) = delete;
  JumpPage& operator=(const JumpPage&) = delete;

  explicit operator bool() const { return start_ != nullptr; }

  // The distance of a jump to `function`, which can be called when this object is gone.
  uint32_t add(const void* function) {
    constexpr unsigned char kJump[] = {0xff, 0x25, 0, 0, 0, 0};  // jmp [rip]: to the address that follows
    unsigned char* const jump = next_;
    memcpy(jump, kJump, sizeof kJump);
    memcpy(jump + sizeof kJump, &function, sizeof function);
    next_ += kJumpBytes;
    return static_cast<uint32_t>(jump - reinterpret_cast<unsigned char*>(module_));
  }

 private:
  static constexpr size_t kJumpBytes = 16;  // 14 are used

  char* const module_;
  unsigned char* start_ = nullptr;
  unsigned char* next_ = nullptr;
};

void redirect_exports(HMODULE module, size_t runtime) {
  const os::ModuleImage image(module);
  uint32_t* offsets[kNameCount];
  uint32_t jumps[kNameCount];
  {
    JumpPage page(image);
    if (!page) return;  // import tables are changed all the same, those of later modules as they come
    for (size_t i = 0; i < kNameCount; ++i) {
      const Replacement& replacement = kReplacements[runtime]()[i];
      offsets[i] = image.find_export(replacement.name);
      jumps[i] = offsets[i] ? page.add(replacement.function) : 0;
    }
  }
  for (size_t i = 0; i < kNameCount; ++i) {
    if (offsets[i]) os::store_protected(offsets[i], jumps[i]);
  }
}

// Whether the module is a runtime, which is then complete and whose exports are ours.
bool redirect_runtime(HMODULE module, const UNICODE_STRING& name) {
  const size_t runtime = os::note_runtime(module, name.Buffer, name.Length / sizeof(wchar_t));
  if (runtime == os::kRuntimeCount || redirected[runtime]) return false;
  const os::ModuleImage image(module);
  for (size_t i = 0; i < kNameCount; ++i) {
    const Replacement& replacement = kReplacements[runtime]()[i];
    originals[runtime][i] = image.function(replacement.name);
  }
  redirected[runtime] = true;
  redirect_exports(module, runtime);
  return true;
}

void CALLBACK redirect_imports_of(const LoaderEntry* module, void*, BOOLEAN*) { redirect_imports(static_cast<HMODULE>(module->base)); }

void CALLBACK redirect_runtime_of(const LoaderEntry* module, void* any, BOOLEAN*) {
  if (redirect_runtime(static_cast<HMODULE>(module->base), module->base_name)) *static_cast<bool*>(any) = true;
}

// The loader has a new module: mapped, bound, and not started yet.
void CALLBACK on_module(ULONG reason, const LoadedModule* module, void*) {
  if (reason != kLoaded) return;
  const HMODULE handle = static_cast<HMODULE>(module->base);
  if (redirect_runtime(handle, *module->base_name)) {
    LdrEnumerateLoadedModules(0, redirect_imports_of, nullptr);  // those that came with it were bound before we were told
  }
  redirect_imports(handle);
}

}  // namespace

bool redirect_runtimes() {
  void* cookie;  // for ever
  if (LdrRegisterDllNotification(0, on_module, nullptr, &cookie) < 0) return false;
  bool any = false;
  LdrEnumerateLoadedModules(0, redirect_runtime_of, &any);
  if (any) LdrEnumerateLoadedModules(0, redirect_imports_of, nullptr);
  return true;
}

}  // namespace hakozuna::api
