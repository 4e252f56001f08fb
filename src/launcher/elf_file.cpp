#include "launcher/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <optional>
#include <string_view>

namespace hakozuna::launcher {

namespace {

constexpr unsigned char kNativeClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
constexpr unsigned char kNativeData =
    std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

// A file mapped read-only; every access is checked against its end, since the file may be anything.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    struct stat status;
    if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
      opened_ = true;
      size_ = static_cast<size_t>(status.st_size);
      if (size_ > 0) {
        void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (address == MAP_FAILED) {
          size_ = 0;
        } else {
          data_ = static_cast<const char*>(address);
        }
      }
    }
    ::close(descriptor);
  }
  ~MappedFile() {
    if (data_) ::munmap(const_cast<char*>(data_), size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  bool opened() const { return opened_; }
  size_t size() const { return size_; }

  // A copy, because nothing promises that a table in the file is aligned.
  template <class T>
  std::optional<T> read(uint64_t offset) const {
    if (offset > size_ || size_ - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, data_ + offset, sizeof(T));
    return value;
  }

  std::optional<std::string> text(uint64_t offset) const {
    if (offset >= size_) return std::nullopt;
    const size_t length = ::strnlen(data_ + offset, size_ - offset);
    if (length == size_ - offset) return std::nullopt;
    return std::string(data_ + offset, length);
  }

 private:
  const char* data_ = nullptr;
  size_t size_ = 0;
  bool opened_ = false;
};

std::string machine_name(uint16_t machine, unsigned char elf_class) {
  switch (machine) {
    case EM_X86_64:
      return elf_class == ELFCLASS64 ? "x86-64" : "x32";
    case EM_386:
      return "32-bit x86";
    case EM_AARCH64:
      return "arm64";
    case EM_ARM:
      return "32-bit arm";
    case EM_RISCV:
      return elf_class == ELFCLASS64 ? "riscv64" : "riscv32";
    case EM_PPC64:
      return "ppc64";
    case EM_S390:
      return "s390x";
    default:
      return "ELF machine " + std::to_string(machine);
  }
}

uint16_t native_machine_code() {
#if defined(__x86_64__)
  return EM_X86_64;
#elif defined(__aarch64__)
  return EM_AARCH64;
#elif defined(__riscv)
  return EM_RISCV;
#else
#error "this architecture is not known to the launcher"
#endif
}

// Reads the tables of a native file into `file`. False if one of them points outside.
class TableReader {
 public:
  TableReader(const MappedFile& mapped, ElfFile& file) : mapped_(mapped), file_(file) {}

  bool read_all() {
    const auto header = mapped_.read<ElfW(Ehdr)>(0);
    return header && read_segments(*header) && read_sections(*header);
  }

 private:
  bool read_segments(const ElfW(Ehdr) & header) {
    bool dynamic = false;
    for (unsigned i = 0; i < header.e_phnum; ++i) {
      const auto segment =
          mapped_.read<ElfW(Phdr)>(header.e_phoff + uint64_t{i} * sizeof(ElfW(Phdr)));
      if (!segment) return false;
      if (segment->p_type == PT_DYNAMIC) dynamic = true;
      if (segment->p_type != PT_INTERP) continue;
      const auto interpreter = mapped_.text(segment->p_offset);
      if (!interpreter) return false;
      file_.interpreter = *interpreter;
    }
    file_.is_shared_object = header.e_type == ET_DYN && dynamic;
    return true;
  }

  bool read_sections(const ElfW(Ehdr) & header) {
    for (unsigned i = 0; i < header.e_shnum; ++i) {
      const auto section = section_at(header, i);
      if (!section) return false;
      const bool wanted = section->sh_type == SHT_DYNSYM || section->sh_type == SHT_SYMTAB ||
                          section->sh_type == SHT_DYNAMIC;
      if (!wanted) continue;
      const auto names = section_at(header, section->sh_link);
      if (!names || section->sh_link >= header.e_shnum) return false;
      const bool whole = section->sh_type == SHT_DYNAMIC ? read_dynamic(*section, names->sh_offset)
                                                         : read_symbols(*section, names->sh_offset);
      if (!whole) return false;
    }
    return true;
  }

  std::optional<ElfW(Shdr)> section_at(const ElfW(Ehdr) & header, unsigned index) const {
    return mapped_.read<ElfW(Shdr)>(header.e_shoff + uint64_t{index} * sizeof(ElfW(Shdr)));
  }

  bool read_dynamic(const ElfW(Shdr) & section, uint64_t names) {
    for (uint64_t done = 0; done < section.sh_size; done += sizeof(ElfW(Dyn))) {
      const auto entry = mapped_.read<ElfW(Dyn)>(section.sh_offset + done);
      if (!entry) return false;
      if (entry->d_tag == DT_NULL) return true;
      if (entry->d_tag != DT_NEEDED) continue;
      const auto name = mapped_.text(names + entry->d_un.d_val);
      if (!name) return false;
      file_.needed.push_back(*name);
    }
    return true;
  }

  bool read_symbols(const ElfW(Shdr) & section, uint64_t names) {
    const bool dynamic = section.sh_type == SHT_DYNSYM;
    for (uint64_t done = 0; done < section.sh_size; done += sizeof(ElfW(Sym))) {
      const auto symbol = mapped_.read<ElfW(Sym)>(section.sh_offset + done);
      if (!symbol) return false;
      const auto name = mapped_.text(names + symbol->st_name);
      if (!name) return false;
      const unsigned type = symbol->st_info & 0xf;
      const bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
      if (symbol->st_shndx == SHN_UNDEF) {
        if (dynamic) file_.imported_symbols.insert(*name);
      } else if (function && symbol->st_value != 0) {
        (dynamic ? file_.exported_functions : file_.local_functions).insert(*name);
      }
    }
    return true;
  }

  const MappedFile& mapped_;
  ElfFile& file_;
};

}  // namespace

std::string native_machine() { return machine_name(native_machine_code(), kNativeClass); }

ElfFile read_elf(const std::filesystem::path& path) {
  ElfFile file;
  const MappedFile mapped(path);
  if (!mapped.opened()) return file;

  file.kind = ElfKind::kNotElf;
  // The identification and the machine lie at the same place in files of both word sizes.
  const auto start = mapped.read<Elf32_Ehdr>(0);
  if (!start || std::memcmp(start->e_ident, ELFMAG, SELFMAG) != 0) return file;

  const unsigned char elf_class = start->e_ident[EI_CLASS];
  const unsigned char data = start->e_ident[EI_DATA];
  uint16_t machine = start->e_machine;
  if (data != kNativeData) machine = static_cast<uint16_t>(machine << 8 | machine >> 8);
  file.machine = machine_name(machine, elf_class);
  if (elf_class != kNativeClass || data != kNativeData || machine != native_machine_code()) {
    file.kind = ElfKind::kForeign;
    return file;
  }
  file.kind = TableReader(mapped, file).read_all() ? ElfKind::kNative : ElfKind::kDamaged;
  return file;
}

}  // namespace hakozuna::launcher
