#include "common/base/text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#if !defined(_WIN32)
#include <poll.h>
#endif

#include "common/base/cancellation.h"

namespace hakozuna {
namespace {

constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
constexpr uint32_t kLargestUnit = 6;
constexpr uint32_t kLargestParsedUnit = 4;

// Waits for the reader of a descriptor that does not take more now. False if it takes too long.
#if defined(_WIN32)
bool wait_for_reader(int) { return false; }  // descriptors wait by themselves there
#else
bool wait_for_reader(int fd) {
  constexpr int kPatienceMs = 1000;
  pollfd descriptor = {fd, POLLOUT, 0};
  const int ready = poll(&descriptor, 1, kPatienceMs);
  return ready > 0 || (ready < 0 && errno == EINTR);
}
#endif

}  // namespace

TextWriter::TextWriter(char* buffer, size_t capacity) : TextWriter(buffer, capacity, nullptr) {}

TextWriter::TextWriter(char* buffer, size_t capacity, Drain drain)
    : buffer_(buffer), room_(capacity == 0 ? 0 : capacity - 1), drain_(drain) {
  if (capacity != 0) buffer_[0] = '\0';
}

TextWriter& TextWriter::text(std::string_view text) {
  length_ += text.size();
  const char* rest = text.data();
  size_t rest_length = text.size();
  while (rest_length != 0) {
    if (stored_ == room_ && drain_) drain_(*this);
    const size_t room = room_ - stored_;
    if (room == 0) break;
    const size_t taken = rest_length < room ? rest_length : room;
    memcpy(buffer_ + stored_, rest, taken);
    stored_ += taken;
    buffer_[stored_] = '\0';
    rest += taken;
    rest_length -= taken;
  }
  return *this;
}

TextWriter& TextWriter::repeat(char character, size_t count) {
  for (size_t i = 0; i < count; ++i) text({&character, 1});
  return *this;
}

TextWriter& TextWriter::decimal(uint64_t value) {
  char digits[20];
  char* const end = digits + sizeof digits;
  char* first = end;
  do {
    *--first = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  return text({first, static_cast<size_t>(end - first)});
}

TextWriter& TextWriter::signed_decimal(int64_t value) {
  // Negated as unsigned: the smallest value has no positive counterpart.
  const uint64_t bits = static_cast<uint64_t>(value);
  if (value >= 0) return decimal(bits);
  return text("-").decimal(0 - bits);
}

TextWriter& TextWriter::hex(uint64_t value) {
  char digits[16];
  char* const end = digits + sizeof digits;
  char* first = end;
  do {
    *--first = "0123456789abcdef"[value & 15];
    value >>= 4;
  } while (value != 0);
  return text("0x").text({first, static_cast<size_t>(end - first)});
}

TextWriter& TextWriter::bytes(uint64_t value) {
  uint32_t unit = 0;
  while (unit < kLargestUnit && value >> (10 * (unit + 1)) != 0) ++unit;
  const uint32_t shift = 10 * unit;
  const uint64_t one = uint64_t{1} << shift;
  const uint64_t remainder = value & (one - 1);
  uint64_t whole = value >> shift;
  uint64_t tenths = (remainder * 10 + one / 2) >> shift;  // remainder < 2^60: no overflow
  if (tenths == 10) {
    tenths = 0;
    ++whole;
    if (whole == 1024 && unit < kLargestUnit) {
      whole = 1;
      ++unit;
    }
  }
  decimal(whole);
  if (remainder != 0) text(".").decimal(tenths);
  return text(" ").text(kUnits[unit]);
}

TextWriter& TextWriter::exact_bytes(uint64_t value) {
  uint32_t unit = 0;
  while (value != 0 && unit < kLargestParsedUnit && value % 1024 == 0) {
    value /= 1024;
    ++unit;
  }
  decimal(value);
  return unit == 0 ? *this : text(kUnits[unit]);
}

TextWriter& TextWriter::escaped(std::string_view raw, size_t longest) {
  const bool cut = raw.size() > longest;
  const char* const end = raw.data() + (cut ? longest : raw.size());
  for (const char* at = raw.data(); at != end; ++at) {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte < ' ' || byte > '~') {
      const char escape[] = {'\\', 'x', "0123456789abcdef"[byte >> 4],
                             "0123456789abcdef"[byte & 15]};
      text({escape, sizeof escape});
    } else {
      if (*at == '"' || *at == '\\') text("\\");
      text({at, 1});
    }
  }
  return cut ? text("...") : *this;
}

TextWriter& TextWriter::left(std::string_view cell, size_t width) {
  return text(cell).repeat(' ', cell.size() < width ? width - cell.size() : 0);
}

TextWriter& TextWriter::right(std::string_view cell, size_t width) {
  return repeat(' ', cell.size() < width ? width - cell.size() : 0).text(cell);
}

int write_all(int fd, std::string_view text) {
  const CancellationOff cancellation_off;
  const int saved_errno = errno;
  int error = 0;
  const char* rest = text.data();
  size_t rest_length = text.size();
  while (rest_length != 0) {
    const auto written = ::write(fd, rest, rest_length);
    if (written > 0) {
      rest += written;
      rest_length -= static_cast<size_t>(written);
    } else if (written == 0) {
      error = EIO;  // no progress and no reason: trying again could go on for ever
      break;
    } else if (errno == EAGAIN) {
      if (!wait_for_reader(fd)) {
        error = EAGAIN;
        break;
      }
    } else if (errno != EINTR) {
      error = errno;
      break;
    }
  }
  errno = saved_errno;
  return error;
}

int FileText::flush() {
  if (error_ == 0) error_ = write_all(fd_, stored());
  forget_stored();
  return error_;
}

namespace {

bool is_digit(char character) { return character >= '0' && character <= '9'; }

char lower(char character) {
  return character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a')
                                              : character;
}

bool equal_but_for_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (lower(a.data()[i]) != lower(b.data()[i])) return false;
  }
  return true;
}

// Takes the decimal number `text` begins with; false if there is none or it does not fit.
bool take_number(std::string_view& text, uint64_t& value) {
  uint64_t number = 0;
  size_t count = 0;
  while (count < text.size() && is_digit(text.data()[count])) {
    if (__builtin_mul_overflow(number, uint64_t{10}, &number) ||
        __builtin_add_overflow(number, static_cast<uint64_t>(text.data()[count] - '0'), &number)) {
      return false;
    }
    ++count;
  }
  text = {text.data() + count, text.size() - count};
  value = number;
  return count != 0;
}

// What a unit multiplies by, as a power of two; false if it is none.
bool parse_unit(std::string_view text, uint32_t& shift) {
  if (text.empty()) {
    shift = 0;
    return true;
  }
  for (uint32_t unit = 1; unit <= kLargestParsedUnit; ++unit) {
    const std::string_view name = kUnits[unit];
    if (equal_but_for_case(text, name) || equal_but_for_case(text, {name.data(), 1})) {
      shift = 10 * unit;
      return true;
    }
  }
  return false;
}

}  // namespace

bool parse_unsigned(std::string_view text, uint64_t minimum, uint64_t maximum, uint64_t& value) {
  uint64_t number;
  if (!take_number(text, number) || !text.empty()) return false;
  if (number < minimum || number > maximum) return false;
  value = number;
  return true;
}

bool parse_size(std::string_view text, uint64_t minimum, uint64_t maximum, uint64_t& value) {
  uint64_t number;
  uint32_t shift;
  if (!take_number(text, number) || !parse_unit(text, shift)) return false;
  if (number > UINT64_MAX >> shift) return false;
  number <<= shift;
  if (number < minimum || number > maximum) return false;
  value = number;
  return true;
}

bool parse_boolean(std::string_view text, bool& value) {
  static constexpr const char* kNames[] = {"0", "1", "no", "yes", "false", "true", "off", "on"};
  uint64_t index;
  if (!parse_choice(text, kNames, sizeof kNames / sizeof kNames[0], index)) return false;
  value = index % 2 != 0;
  return true;
}

bool parse_choice(std::string_view text, const char* const* names, size_t count, uint64_t& value) {
  for (size_t i = 0; i < count; ++i) {
    if (equal_but_for_case(text, names[i])) {
      value = i;
      return true;
    }
  }
  return false;
}

}  // namespace hakozuna
