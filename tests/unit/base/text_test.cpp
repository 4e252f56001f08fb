#include "common/base/text.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>

#include "unit/core/child_process.h"

namespace hakozuna {
namespace {

template <class Write>
std::string written(Write write) {
  FixedText<256> text;
  write(text);
  EXPECT_EQ(text.length(), text.stored().size());
  return std::string(text.stored());
}

std::string decimal(uint64_t value) {
  return written([value](TextWriter& out) { out.decimal(value); });
}
std::string signed_decimal(int64_t value) {
  return written([value](TextWriter& out) { out.signed_decimal(value); });
}
std::string hex(uint64_t value) {
  return written([value](TextWriter& out) { out.hex(value); });
}
std::string bytes(uint64_t value) {
  return written([value](TextWriter& out) { out.bytes(value); });
}
std::string exact_bytes(uint64_t value) {
  return written([value](TextWriter& out) { out.exact_bytes(value); });
}
std::string escaped(std::string_view raw, size_t longest) {
  return written([=](TextWriter& out) { out.escaped(raw, longest); });
}

TEST(Text, Numbers) {
  EXPECT_EQ(decimal(0), "0");
  EXPECT_EQ(decimal(1234567890), "1234567890");
  EXPECT_EQ(decimal(UINT64_MAX), "18446744073709551615");
  EXPECT_EQ(signed_decimal(0), "0");
  EXPECT_EQ(signed_decimal(-1), "-1");
  EXPECT_EQ(signed_decimal(INT64_MAX), "9223372036854775807");
  EXPECT_EQ(signed_decimal(INT64_MIN), "-9223372036854775808");
  EXPECT_EQ(hex(0), "0x0");
  EXPECT_EQ(hex(0x7f00deadbeef), "0x7f00deadbeef");
  EXPECT_EQ(hex(UINT64_MAX), "0xffffffffffffffff");
}

TEST(Text, AddressesLookLikePrintf) {
  const int object = 0;
  char expected[32];
  snprintf(expected, sizeof expected, "%p", static_cast<const void*>(&object));
  EXPECT_EQ(written([&object](TextWriter& out) { out.address(&object); }), expected);
}

TEST(Text, BytesForPeople) {
  EXPECT_EQ(bytes(0), "0 B");
  EXPECT_EQ(bytes(1023), "1023 B");
  EXPECT_EQ(bytes(1024), "1 KiB");
  EXPECT_EQ(bytes(1025), "1.0 KiB") << "not exact";
  EXPECT_EQ(bytes(1536), "1.5 KiB");
  EXPECT_EQ(bytes(65536), "64 KiB");
  EXPECT_EQ(bytes((1 << 20) - 1), "1.0 MiB") << "rounded up into the next unit";
  EXPECT_EQ(bytes(uint64_t{1} << 40), "1 TiB");
  EXPECT_EQ(bytes(uint64_t{3} << 62 >> 1), "6 EiB");
  EXPECT_EQ(bytes(UINT64_MAX), "16.0 EiB");
}

TEST(Text, ExactBytesAreReadBack) {
  EXPECT_EQ(exact_bytes(0), "0");
  EXPECT_EQ(exact_bytes(1000), "1000");
  EXPECT_EQ(exact_bytes(1 << 20), "1MiB");
  EXPECT_EQ(exact_bytes(1536 << 10), "1536KiB");
  EXPECT_EQ(exact_bytes(uint64_t{256} << 40), "256TiB");
  for (uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{1023}, uint64_t{1} << 10,
                         (uint64_t{1} << 30) + 1024, uint64_t{1} << 63, UINT64_MAX}) {
    uint64_t back = 1;
    ASSERT_TRUE(parse_size(exact_bytes(value), 0, UINT64_MAX, back)) << exact_bytes(value);
    EXPECT_EQ(back, value);
  }
}

TEST(Text, EscapedIsOneHarmlessLine) {
  EXPECT_EQ(escaped("", 10), "");
  EXPECT_EQ(escaped("plain", 10), "plain");
  EXPECT_EQ(escaped("a\nb\x1b[31m\xc3", 20), "a\\x0ab\\x1b[31m\\xc3");
  EXPECT_EQ(escaped("say \"\\\"", 20), "say \\\"\\\\\\\"");
  EXPECT_EQ(escaped("0123456789", 10), "0123456789");
  EXPECT_EQ(escaped("0123456789a", 10), "0123456789...");
  EXPECT_EQ(escaped(std::string_view("\0x", 2), 10), "\\x00x");
}

TEST(Text, Columns) {
  const auto columns = [](TextWriter& out) {
    out.left("ab", 4).text("|").right("ab", 4).text("|").left("abcd", 2).text("|").right("abc", 3);
  };
  EXPECT_EQ(written(columns), "ab  |  ab|abcd|abc");
}

TEST(Text, IsCutAtEveryCapacityAndStillCounted) {
  const std::string whole = "ab 18446744073709551615 0x7f    z";
  for (size_t capacity = 0; capacity <= whole.size() + 2; ++capacity) {
    std::string buffer(whole.size() + 8, '#');
    TextWriter out(capacity == 0 ? nullptr : buffer.data(), capacity);
    out.text("ab ").decimal(UINT64_MAX).text(" ").hex(127).right("z", 5);
    ASSERT_EQ(out.length(), whole.size());
    const size_t expected = capacity == 0 ? 0 : std::min(capacity - 1, whole.size());
    ASSERT_EQ(out.stored(), whole.substr(0, expected));
    if (capacity != 0) {
      ASSERT_EQ(buffer[expected], '\0') << capacity;
    }
    for (size_t i = capacity == 0 ? 0 : expected + 1; i < buffer.size(); ++i) {
      ASSERT_EQ(buffer[i], '#') << "written past capacity " << capacity;
    }
  }
}

TEST(Text, AnEmptyTextIsTerminated) {
  char buffer[2] = {'#', '#'};
  TextWriter out(buffer, 2);
  EXPECT_EQ(out.length(), 0u);
  EXPECT_EQ(buffer[0], '\0');
}

class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe(ends_), 0); }
  ~Pipe() {
    close(ends_[0]);
    close_input();
  }
  int input() const { return ends_[1]; }
  int output() const { return ends_[0]; }
  void close_input() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }
  void make_input_non_blocking() { fcntl(ends_[1], F_SETFL, O_NONBLOCK); }

 private:
  int ends_[2] = {-1, -1};
};

// More than a pipe holds, and no two parts alike.
std::string long_text() {
  std::string text;
  for (int i = 0; text.size() < 1'000'000; ++i) text += std::to_string(i) + "\n";
  return text;
}

// Reads in pieces with pauses, so that the writer has to wait.
std::string read_slowly(int fd) {
  std::string text;
  char chunk[30'000];
  for (;;) {
    const ssize_t got = read(fd, chunk, sizeof chunk);
    if (got <= 0) return text;
    text.append(chunk, static_cast<size_t>(got));
    usleep(1000);
  }
}

TEST(WriteAll, WaitsForASlowReaderOfADescriptorThatDoesNotBlock) {
  Pipe pipe;
  pipe.make_input_non_blocking();
  std::string received;
  std::thread reader([&] { received = read_slowly(pipe.output()); });
  const std::string text = long_text();
  EXPECT_EQ(write_all(pipe.input(), text), 0);
  pipe.close_input();
  reader.join();
  EXPECT_EQ(received, text);
}

volatile sig_atomic_t alarms = 0;

TEST(WriteAll, GoesOnAfterSignals) {
  struct sigaction action = {};
  action.sa_handler = [](int) { alarms = alarms + 1; };
  struct sigaction action_before;
  ASSERT_EQ(sigaction(SIGALRM, &action, &action_before), 0);
  Pipe pipe;
  std::string received;
  sigset_t alarm_only;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm_only, nullptr);  // the reader inherits it
  std::thread reader([&] { received = read_slowly(pipe.output()); });
  pthread_sigmask(SIG_UNBLOCK, &alarm_only, nullptr);

  const itimerval often = {{0, 300}, {0, 300}};
  setitimer(ITIMER_REAL, &often, nullptr);
  const std::string text = long_text();
  EXPECT_EQ(write_all(pipe.input(), text), 0);
  const itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);

  pipe.close_input();
  reader.join();
  sigaction(SIGALRM, &action_before, nullptr);
  EXPECT_EQ(received, text);
  EXPECT_GT(alarms, 0);
}

TEST(WriteAll, GivesUpOnAReaderThatSleeps) {
  Pipe pipe;
  pipe.make_input_non_blocking();
  errno = ENOTTY;
  EXPECT_EQ(write_all(pipe.input(), long_text()), EAGAIN);
  EXPECT_EQ(errno, ENOTTY) << "errno is the program's";
}

TEST(WriteAll, SaysWhatWentWrong) {
  errno = ENOTTY;
  EXPECT_EQ(write_all(-1, "text"), EBADF);
  EXPECT_EQ(errno, ENOTTY);
  EXPECT_EQ(write_all(-1, ""), 0) << "nothing to write";
}

TEST(FixedText, ALineIsOneWrite) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);  // keeps the writes apart
  FixedText<8> line;
  line.text("0123456789");
  line.write_line(ends[0]);
  line.write_line(ends[0]);
  close(ends[0]);
  char packet[64];
  ASSERT_EQ(read(ends[1], packet, sizeof packet), 8);
  EXPECT_EQ(std::string(packet, 8), "0123456\n") << "cut, and still a line";
  EXPECT_EQ(read(ends[1], packet, sizeof packet), 8);
  EXPECT_EQ(read(ends[1], packet, sizeof packet), 0);
  close(ends[1]);
}

TEST(FileText, AnyLength) {
  Pipe pipe;
  std::string received;
  std::thread reader([&] { received = test::read_all(pipe.output()); });
  const std::string text = long_text();
  FileText out(pipe.input());
  out.text("first ").text(text).repeat('x', 5000).decimal(7);
  EXPECT_EQ(out.flush(), 0);
  EXPECT_EQ(out.length(), text.size() + 5007);
  pipe.close_input();
  reader.join();
  EXPECT_EQ(received, "first " + text + std::string(5000, 'x') + "7");
}

TEST(FileText, RemembersTheFirstError) {
  FileText out(-1);
  out.repeat('x', 10'000);
  EXPECT_EQ(out.flush(), EBADF);
  EXPECT_EQ(out.length(), 10'000u);
}

// Not the value before: a parser that fails must leave it alone.
constexpr uint64_t kUntouched = 4242;

uint64_t parsed_unsigned(std::string_view text, uint64_t minimum = 0,
                         uint64_t maximum = UINT64_MAX) {
  uint64_t value = kUntouched;
  const bool good = parse_unsigned(text, minimum, maximum, value);
  EXPECT_EQ(good, value != kUntouched) << text;
  return value;
}

TEST(ParseUnsigned, Good) {
  EXPECT_EQ(parsed_unsigned("0"), 0u);
  EXPECT_EQ(parsed_unsigned("007"), 7u);
  EXPECT_EQ(parsed_unsigned("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parsed_unsigned("5", 5, 5), 5u);
}

TEST(ParseUnsigned, Bad) {
  for (const char* text : {"", " ", "-1", "+1", " 1", "1 ", "1x", "0x10", "1.5", "1e3", "banana",
                           "\n", "18446744073709551616", "18446744073709551620",
                           "99999999999999999999999", "1\n", "\xd9\xa1"}) {
    EXPECT_EQ(parsed_unsigned(text), kUntouched) << text;
  }
  EXPECT_EQ(parsed_unsigned(std::string_view("1\0", 2)), kUntouched);
  EXPECT_EQ(parsed_unsigned("4", 5, 10), kUntouched);
  EXPECT_EQ(parsed_unsigned("11", 5, 10), kUntouched);
}

uint64_t parsed_size(std::string_view text, uint64_t minimum = 0, uint64_t maximum = UINT64_MAX) {
  uint64_t value = kUntouched;
  const bool good = parse_size(text, minimum, maximum, value);
  EXPECT_EQ(good, value != kUntouched) << text;
  return value;
}

TEST(ParseSize, Good) {
  EXPECT_EQ(parsed_size("0"), 0u);
  EXPECT_EQ(parsed_size("123"), 123u);
  for (const char* text : {"4K", "4k", "4KiB", "4kib", "4KIB"}) EXPECT_EQ(parsed_size(text), 4096u);
  EXPECT_EQ(parsed_size("3M"), uint64_t{3} << 20);
  EXPECT_EQ(parsed_size("3MiB"), uint64_t{3} << 20);
  EXPECT_EQ(parsed_size("3G"), uint64_t{3} << 30);
  EXPECT_EQ(parsed_size("3GiB"), uint64_t{3} << 30);
  EXPECT_EQ(parsed_size("3TiB"), uint64_t{3} << 40);
  EXPECT_EQ(parsed_size("16777215T"), uint64_t{16777215} << 40);
  EXPECT_EQ(parsed_size("0TiB"), 0u);
}

TEST(ParseSize, Bad) {
  for (const char* text :
       {"", "K", "KiB", "1KB", "1B", "1Ki", "1 K", "1K ", "1MiBi", "-1K", "1.5M", "1KK",
        "16777216T", "18446744073709551615K", "18446744073709551616", "1P"}) {
    EXPECT_EQ(parsed_size(text), kUntouched) << text;
  }
  EXPECT_EQ(parsed_size("1K", 1025, 4096), kUntouched);
  EXPECT_EQ(parsed_size("5K", 0, 4096), kUntouched);
}

TEST(ParseBoolean, GoodAndBad) {
  for (const char* text : {"1", "yes", "true", "on", "YES", "True", "oN"}) {
    bool value = false;
    EXPECT_TRUE(parse_boolean(text, value)) << text;
    EXPECT_TRUE(value) << text;
  }
  for (const char* text : {"0", "no", "false", "off", "NO", "False", "oFF"}) {
    bool value = true;
    EXPECT_TRUE(parse_boolean(text, value)) << text;
    EXPECT_FALSE(value) << text;
  }
  for (const char* text : {"", "2", "y", "n", "tru", "truee", "00", " 1", "on "}) {
    bool value = true;
    EXPECT_FALSE(parse_boolean(text, value)) << text;
    EXPECT_TRUE(value) << "untouched";
  }
}

TEST(ParseChoice, GoodAndBad) {
  const char* const names[] = {"abort", "report"};
  uint64_t value = kUntouched;
  EXPECT_FALSE(parse_choice("", names, 2, value));
  EXPECT_FALSE(parse_choice("repor", names, 2, value));
  EXPECT_FALSE(parse_choice("reports", names, 2, value));
  EXPECT_EQ(value, kUntouched);
  EXPECT_TRUE(parse_choice("Report", names, 2, value));
  EXPECT_EQ(value, 1u);
  EXPECT_FALSE(parse_choice("report", names, 1, value)) << "not among the first";
}

}  // namespace
}  // namespace hakozuna
