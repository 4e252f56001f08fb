#include "support/line_under_test.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <sstream>

#include "support/opaque.h"

namespace hakozuna::test {
namespace {

template <class Function>
void look_up(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

Api look_up_all() {
  Api a{};
  look_up(a.version, "hakozuna_version");
  look_up(a.line_name, "hakozuna_line_name");
  look_up(a.classify, "hakozuna_classify");
  look_up(a.usable_size, "hakozuna_usable_size");
  look_up(a.good_size, "hakozuna_good_size");
  look_up(a.free_sized, "hakozuna_free_sized");
  look_up(a.free_aligned_sized, "hakozuna_free_aligned_sized");
  look_up(a.trim, "hakozuna_trim");
  look_up(a.thread_flush, "hakozuna_thread_flush");
  look_up(a.get_statistics, "hakozuna_get_statistics");
  look_up(a.get_class_statistics, "hakozuna_get_class_statistics");
  look_up(a.statistics_json, "hakozuna_statistics_json");
  look_up(a.print_statistics, "hakozuna_print_statistics");
  look_up(a.option_set, "hakozuna_option_set");
  look_up(a.option_get, "hakozuna_option_get");
  return a;
}

struct NamedDetection {
  const char* line;
  Detection detection;
};

constexpr NamedDetection kDetections[] = {
    {"hz8",
     {.double_free = true,
      .remote_double_free = true,
      .orphan_double_free = true,
      .interior_pointer = true,
      .misaligned_pointer = true,
      .tail_slack = true,
      .metadata_pointer = true,
      .wrong_size = true,
      .exact_classify = true}},
    {"hz10", {.metadata_pointer = true}},
    // What goes onto the thread's own bins is not looked at.
    {"hz3", {.metadata_pointer = true}},
    // Not even misaligned pointers always: a bin with room takes what lies in a span.
    {"hz4", {.metadata_pointer = true}},
};

// A line that is not in the table promises nothing.
constexpr Detection kNothing{};

bool is_ours(void* block) { return api().classify(block) == HAKOZUNA_VALID; }

}  // namespace

const Api& api() {
  static const Api instance = look_up_all();
  return instance;
}

bool line_loaded() { return api().classify != nullptr; }

std::string line_name() { return line_loaded() ? api().line_name() : ""; }

const Detection& detection() {
  static const Detection& of_this_line = []() -> const Detection& {
    const std::string name = line_name();
    for (const NamedDetection& entry : kDetections) {
      if (name == entry.line) return entry.detection;
    }
    return kNothing;
  }();
  return of_this_line;
}

std::string problem_with_line(const std::string& expected) {
  if (!line_loaded()) return "no hakozuna library is loaded, expected " + expected;
  if (line_name() != expected) return "the line is " + line_name() + ", expected " + expected;

  std::string problem;
  const auto check = [&problem](const char* what, void* block) {
    if (!is_ours(block)) problem += std::string(what) + " is not ours; ";
  };
  void* block = opaque(std::malloc(100));
  check("a block of malloc", block);
  std::free(block);
  void* object = opaque(::operator new(100));
  check("an object of operator new", object);
  ::operator delete(object);
#if !defined(_WIN32)  // what the runtime allocates for itself stays its own there
  char* copy = strdup("allocated inside the C library");
  check("a string of strdup", copy);
  std::free(copy);
#endif
  std::string text(1000, 'x');  // allocated inside the C++ library
  check("a std::string", text.data());
  return problem;
}

std::string problem_with_statistics() {
  if (!line_loaded()) return "";
  hakozuna_statistics s{};
  if (api().get_statistics(&s, sizeof s) != 0) return "hakozuna_get_statistics failed";
  const uint64_t sum = s.live + s.cached + s.free_in_spans + s.returned + s.untouched + s.metadata;
  if (s.mapped == sum) return "";
  std::ostringstream text;
  text << "mapped " << s.mapped << " != live " << s.live << " + cached " << s.cached
       << " + free_in_spans " << s.free_in_spans << " + returned " << s.returned << " + untouched "
       << s.untouched << " + metadata " << s.metadata << " = " << sum;
  return text.str();
}

}  // namespace hakozuna::test
