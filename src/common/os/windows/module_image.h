// A module as the loader has laid it out in memory: what it imports and what it exports.
//
// Read without the loader's help, so it can be used while the loader is at work.
#pragma once

#include <windows.h>

#include <cstdint>
#include <string_view>

namespace hakozuna::os {

class ModuleImage {
 public:
  explicit ModuleImage(HMODULE module) : base_(reinterpret_cast<char*>(module)) {}

  // Calls visit(void** slot) for every function pointer that the loader has filled in. The slots may be write-protected.
  template <class Visitor>
  void for_each_import(Visitor&& visit) const {
    const IMAGE_DATA_DIRECTORY* const directory = find_directory(IMAGE_DIRECTORY_ENTRY_IMPORT);
    if (!directory) return;
    const auto* import = at<IMAGE_IMPORT_DESCRIPTOR>(directory->VirtualAddress);
    for (; import->Name != 0; ++import) {
      for (void** slot = at<void*>(import->FirstThunk); *slot; ++slot) visit(slot);
    }
  }

  // Where the module keeps the offset of the exported function; null if it exports none of that name, or one of another module.
  uint32_t* find_export(std::string_view name) const;

  // The function itself.
  void* function(std::string_view name) const {
    const uint32_t* const offset = find_export(name);
    return offset ? base_ + *offset : nullptr;
  }

  char* base() const { return base_; }
  size_t bytes() const { return headers()->OptionalHeader.SizeOfImage; }

 private:
  template <class T>
  T* at(uint32_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }
  const IMAGE_NT_HEADERS64* headers() const {
    return at<IMAGE_NT_HEADERS64>(static_cast<uint32_t>(at<IMAGE_DOS_HEADER>(0)->e_lfanew));
  }
  const IMAGE_DATA_DIRECTORY* find_directory(uint32_t index) const;

  char* const base_;
};

// Stores a word that may be in a write-protected page. False if the system does not let us.
bool store_protected(void** slot, void* value);
bool store_protected(uint32_t* slot, uint32_t value);

}  // namespace hakozuna::os
