#include "common/os/windows/runtimes.h"

#include "common/os/windows/module_image.h"

namespace hakozuna::os {
namespace {

wchar_t lower(wchar_t letter) { return letter >= L'A' && letter <= L'Z' ? static_cast<wchar_t>(letter - L'A' + L'a') : letter; }

bool has_name(const wchar_t* wanted, const wchar_t* name, size_t length) {
  for (size_t i = 0; i < length; ++i, ++wanted) {
    if (*wanted != lower(name[i])) return false;  // also where `wanted` ends
  }
  return *wanted == L'\0';
}

template <class Function>
void find(const ModuleImage& image, const char* name, Function& function) {
  function = reinterpret_cast<Function>(image.function(name));
}

void fill(Runtime& runtime, HMODULE module) {
  const ModuleImage image(module);
  runtime.module = module;
  find(image, "free", runtime.free);
  find(image, "realloc", runtime.realloc);
  find(image, "_msize", runtime.msize);
  find(image, "_expand", runtime.expand);
  find(image, "_recalloc", runtime.recalloc);
  find(image, "_aligned_free", runtime.aligned_free);
  find(image, "_aligned_realloc", runtime.aligned_realloc);
  find(image, "_aligned_recalloc", runtime.aligned_recalloc);
  find(image, "_aligned_msize", runtime.aligned_msize);
  find(image, "_aligned_offset_malloc", runtime.aligned_offset_malloc);
  find(image, "_aligned_offset_realloc", runtime.aligned_offset_realloc);
  find(image, "_aligned_offset_recalloc", runtime.aligned_offset_recalloc);
  find(image, "_errno", runtime.error_number);
  find(image, "_get_heap_handle", runtime.heap_handle);
}

}  // namespace

constinit Runtime runtimes[kRuntimeCount];
constinit std::atomic<size_t> loaded_runtimes{0};

size_t note_runtime(HMODULE module, const wchar_t* name, size_t name_length) {
  for (size_t i = 0; i < kRuntimeCount; ++i) {
    if (!has_name(kRuntimeNames[i], name, name_length)) continue;
    const size_t bit = size_t{1} << i;
    // A second copy, from another folder, is another allocator: left alone.
    if (loaded_runtimes.load(std::memory_order_relaxed) & bit) return runtimes[i].module == module ? i : kRuntimeCount;
    fill(runtimes[i], module);
    loaded_runtimes.fetch_or(bit, std::memory_order_release);  // pairs with whoever looks for the runtime of a block
    return i;
  }
  return kRuntimeCount;
}

}  // namespace hakozuna::os
