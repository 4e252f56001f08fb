// usage: consumer LINE    succeeds if operator new, here and inside the C++ library, is that line's
#include <hakozuna/hakozuna.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2 || std::strcmp(hakozuna_line_name(), argv[1]) != 0) return 1;
  int* const number = new int(1);
  const std::string text(1000, 'x');
  const bool ours = hakozuna_classify(number) == HAKOZUNA_VALID &&
                    hakozuna_classify(text.data()) == HAKOZUNA_VALID;
  delete number;

  bool thrown = false;
  volatile std::size_t impossible = PTRDIFF_MAX;
  try {
    ::operator delete(::operator new(impossible));
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  std::printf("%s: new and std::string are %s; bad_alloc was %s\n", hakozuna_line_name(),
              ours ? "ours" : "not ours", thrown ? "thrown" : "not thrown");
  return ours && thrown ? 0 : 1;
}
