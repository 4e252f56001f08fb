#include "common/os/windows/module_image.h"

#include <string.h>

namespace hakozuna::os {
namespace {

template <class Word>
bool store(Word* slot, Word value) {
  DWORD before;
  if (!VirtualProtect(slot, sizeof *slot, PAGE_READWRITE, &before)) return false;
  // relaxed: other threads call through the word meanwhile and may find either function.
  __atomic_store_n(slot, value, __ATOMIC_RELAXED);
  VirtualProtect(slot, sizeof *slot, before, &before);
  return true;
}

}  // namespace

const IMAGE_DATA_DIRECTORY* ModuleImage::find_directory(uint32_t index) const {
  const IMAGE_OPTIONAL_HEADER64& header = headers()->OptionalHeader;
  if (header.Magic != IMAGE_NT_OPTIONAL_HDR64_MAGIC || index >= header.NumberOfRvaAndSizes) return nullptr;
  const IMAGE_DATA_DIRECTORY& directory = header.DataDirectory[index];
  return directory.VirtualAddress != 0 && directory.Size != 0 ? &directory : nullptr;
}

uint32_t* ModuleImage::find_export(std::string_view name) const {
  const IMAGE_DATA_DIRECTORY* const directory = find_directory(IMAGE_DIRECTORY_ENTRY_EXPORT);
  if (!directory) return nullptr;
  const auto* const exports = at<IMAGE_EXPORT_DIRECTORY>(directory->VirtualAddress);
  const uint32_t* const names = at<uint32_t>(exports->AddressOfNames);
  const uint16_t* const ordinals = at<uint16_t>(exports->AddressOfNameOrdinals);
  for (uint32_t i = 0; i < exports->NumberOfNames; ++i) {
    if (name != at<const char>(names[i])) continue;
    uint32_t* const offset = at<uint32_t>(exports->AddressOfFunctions) + ordinals[i];
    // An offset into the directory itself is the name of a function elsewhere.
    const bool is_forwarder = *offset - directory->VirtualAddress < directory->Size;
    return is_forwarder ? nullptr : offset;
  }
  return nullptr;
}

bool store_protected(void** slot, void* value) { return store(slot, value); }
bool store_protected(uint32_t* slot, uint32_t value) { return store(slot, value); }

}  // namespace hakozuna::os
