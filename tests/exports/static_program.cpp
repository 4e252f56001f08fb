// A fully static C++ program with a line's archive in it: containers are ours, and running out of memory is an exception.
#include <cstdint>
#include <cstdio>
#include <map>
#include <new>
#include <string>

#include "hakozuna/hakozuna.h"

int main() {
  std::map<int, std::string> texts;
  for (int i = 0; i < 1000; ++i) texts[i] = std::string(static_cast<size_t>(i) + 100, 'x');
  bool ours = true;
  for (const auto& [key, text] : texts) ours = ours && hakozuna_classify(text.data()) == HAKOZUNA_VALID;

  bool thrown = false;
  volatile size_t impossible = PTRDIFF_MAX;
  try {
    ::operator delete(::operator new(impossible));
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  std::printf("ours %d, thrown %d\n", ours, thrown);
  return !(ours && thrown);
}
