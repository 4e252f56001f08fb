// A program that was built without us, with a line's library preloaded: what it allocates in threads, in a forked child, through the C++ runtime and
// in a library that it loads late must be the line's, and keep its contents.
//
// usage: emulated_program LINE PLUGIN
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "hakozuna/hakozuna.h"

namespace {

// Looked up, because the program is linked with libc only.
decltype(&hakozuna_classify) classify = nullptr;

bool is_ours(const void* block) { return classify(block) == HAKOZUNA_VALID; }

int failures = 0;
void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "emulated_program: %s\n", what);
  ++failures;
}

// Blocks of all sizes, through the C++ runtime. Returns whether they kept their contents and are the line's.
bool work(size_t seed) {
  std::map<size_t, std::string> texts;
  std::vector<char*> blocks;
  bool well = true;
  for (size_t size = 1; size < 300'000; size += 1 + size / 4) {
    texts[size] = std::string(size, static_cast<char>('a' + (size + seed) % 26));
    auto* const block = static_cast<char*>(std::malloc(size));
    well = well && block && is_ours(block) && is_ours(texts[size].size() > 30 ? texts[size].data() : block);
    std::memset(block, static_cast<int>(size), size);
    blocks.push_back(block);
  }
  for (const auto& [size, text] : texts) well = well && text == std::string(size, static_cast<char>('a' + (size + seed) % 26));
  for (char* const block : blocks) std::free(block);
  try {
    throw std::string("an exception is allocated too");
  } catch (const std::string& text) {
    well = well && text.size() == 29;
  }
  return well;
}

void use_threads() {
  constexpr size_t kThreads = 4;
  char* passed[kThreads] = {};
  bool well[kThreads] = {};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      well[i] = work(i);
      passed[i] = strdup("freed by another thread, after this one has ended");
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < kThreads; ++i) {
    expect(well[i], "a thread lost contents, or its blocks are not ours");
    expect(is_ours(passed[i]), "a block of an ended thread is not ours");
    std::free(passed[i]);
  }
}

void use_a_child() {
  void* const inherited = std::malloc(1000);
  const pid_t child = fork();
  if (child == 0) {
    std::free(inherited);
    _exit(work(7) ? 0 : 1);
  }
  int status = -1;
  expect(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0, "a forked child");
  std::free(inherited);
}

void use_a_plugin(const char* path) {
  void* const plugin = dlopen(path, RTLD_NOW);
  expect(plugin != nullptr, "the plugin cannot be loaded");
  if (!plugin) return;
  char* (*plugin_text)() = nullptr;
  void* const symbol = dlsym(plugin, "plugin_text");
  std::memcpy(&plugin_text, &symbol, sizeof plugin_text);
  char* const text = plugin_text ? plugin_text() : nullptr;
  expect(text != nullptr && is_ours(text), "a block of the plugin is not ours");
  std::free(text);
  dlclose(plugin);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s LINE PLUGIN\n", argv[0]);
    return 2;
  }
  const char* (*line_name)() = nullptr;
  void* const symbols[] = {dlsym(RTLD_DEFAULT, "hakozuna_line_name"), dlsym(RTLD_DEFAULT, "hakozuna_classify")};
  std::memcpy(&line_name, &symbols[0], sizeof line_name);
  std::memcpy(&classify, &symbols[1], sizeof classify);
  if (!line_name || !classify || std::strcmp(line_name(), argv[1]) != 0) {
    std::fprintf(stderr, "emulated_program: the line is not in place\n");
    return 1;
  }
  expect(work(1), "contents were lost, or blocks are not ours");
  use_threads();
  use_a_child();
  use_a_plugin(argv[2]);
  return failures == 0 ? 0 : 1;
}
