#include "common/base/check.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/base/text.h"

namespace hakozuna {

void check_failed(const char* message, const char* file, int line) noexcept {
  FixedText<512> text;
  text.text("hakozuna: invariant broken: ").text(message).text(" at ").text(file).text(":");
  text.signed_decimal(line);
  text.write_line(STDERR_FILENO);
  abort();
}

}  // namespace hakozuna
