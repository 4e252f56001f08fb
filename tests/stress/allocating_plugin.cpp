// A library that is loaded late, allocates in its constructors and in its functions, and frees when
// it is unloaded.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {
std::vector<std::string> texts(100, std::string(1000, 'x'));
thread_local std::string of_thread =
    "a text too long for the small string optimisation of any library";
}  // namespace

// The caller frees it.
extern "C" __attribute__((visibility("default"))) char* plugin_text() {
  texts.push_back(of_thread);
  return strdup(texts.back().c_str());
}
