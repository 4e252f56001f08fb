// Text without allocation, locale or stdio: written into a buffer of the caller's, sent to a file
// descriptor, or parsed. Everything may be used in a signal handler and before constructors have
// run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hakozuna {

// Writes into a buffer, and goes on counting where it is full (as snprintf): what is stored is
// always a terminated prefix of the text, and length() is what the whole text needs.
class TextWriter {
 public:
  // `buffer` may be null if `capacity`, in bytes with the terminator, is 0.
  TextWriter(char* buffer, size_t capacity);
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;

  TextWriter& text(std::string_view text);
  TextWriter& repeat(char character, size_t count);
  TextWriter& decimal(uint64_t value);
  TextWriter& signed_decimal(int64_t value);
  TextWriter& hex(uint64_t value);  // 0x7f00
  TextWriter& address(const void* address) { return hex(reinterpret_cast<uintptr_t>(address)); }

  // For people: 512 B, 64 KiB, 1.5 MiB. No decimal means exact, else rounded to the nearest tenth.
  TextWriter& bytes(uint64_t value);
  // For parse_size(): always exact, in the largest unit that is: 64KiB, 1536KiB, 1000.
  TextWriter& exact_bytes(uint64_t value);

  // On one line whatever it holds: bytes that are not printable ASCII are written \xNN, a double
  // quote and a backslash behind a backslash. What exceeds `longest` bytes becomes "...".
  TextWriter& escaped(std::string_view text, size_t longest);

  // A column of at least `width` characters.
  TextWriter& left(std::string_view text, size_t width);
  TextWriter& right(std::string_view text, size_t width);

  size_t length() const { return length_; }
  // What is in the buffer.
  std::string_view stored() const { return {buffer_, stored_}; }

 protected:
  // Makes room by taking away what is stored.
  using Drain = void (*)(TextWriter& writer);
  TextWriter(char* buffer, size_t capacity, Drain drain);
  void forget_stored() { stored_ = 0; }

 private:
  char* const buffer_;
  const size_t room_;  // characters that can be stored
  const Drain drain_ = nullptr;
  size_t stored_ = 0;
  size_t length_ = 0;
};

// Writes all of `text` to a file descriptor, by one write(2) if the system takes it at once.
// Returns 0 or an errno value; errno itself is untouched, and it is no cancellation point. Where
// the descriptor does not block and its reader sleeps, it gives up after a second.
int write_all(int fd, std::string_view text);

// A writer with a buffer of its own, for a message or a cell of a table.
template <size_t kCapacity>
class FixedText : public TextWriter {
 public:
  FixedText() : TextWriter(storage_, kCapacity) {}

  // Writes what is stored and a newline, by one write(2).
  void write_line(int fd) {
    const size_t end = stored().size();
    storage_[end] = '\n';
    write_all(fd, {storage_, end + 1});
    storage_[end] = '\0';
  }

 private:
  static_assert(kCapacity > 0);
  char storage_[kCapacity];
};

// A writer to a file descriptor, for a text of any length. Nothing is certain to be written before
// flush().
class FileText : public TextWriter {
 public:
  explicit FileText(int fd) : TextWriter(storage_, sizeof storage_, &drain), fd_(fd) {}

  // Returns 0, or the errno value of the first write that failed; nothing was written after that.
  int flush();

 private:
  static void drain(TextWriter& writer) { static_cast<FileText&>(writer).flush(); }

  const int fd_;
  int error_ = 0;
  char storage_[1024];  // threads may have stacks of 16 KiB
};

// Parsers. The whole text must be the value: no spaces, no sign, nothing behind it. They return
// false, and leave `value` as it was, if it is not one or lies outside of [minimum, maximum].
bool parse_unsigned(std::string_view text, uint64_t minimum, uint64_t maximum, uint64_t& value);

// As parse_unsigned(), with an optional unit of powers of 1024: K, M, G, T or KiB, MiB, GiB, TiB.
bool parse_size(std::string_view text, uint64_t minimum, uint64_t maximum, uint64_t& value);

// 1, yes, true, on; 0, no, false, off. Case does not matter.
bool parse_boolean(std::string_view text, bool& value);

// The index of `text` in `names`. Case does not matter.
bool parse_choice(std::string_view text, const char* const* names, size_t count, uint64_t& value);

}  // namespace hakozuna
