#include "common/core/diagnostics.h"

#include <stdlib.h>
#include <unistd.h>

#include <atomic>

#include "common/base/text.h"
#include "common/core/options.h"

namespace hakozuna::core {
namespace {

constinit std::atomic<uint64_t> misuses{0};  // relaxed: statistics

using Line = FixedText<512>;

// What is known of the block, in parentheses; nothing if nothing is.
void write_findings(TextWriter& out, const Classification& found) {
  const char* separator = " (";
  const auto begin = [&](const char* name) -> TextWriter& {
    out.text(separator).text(name);
    separator = ", ";
    return out;
  };
  if (found.usable_bytes != 0) begin("class ").decimal(found.usable_bytes);
  if (found.span) begin("span ").address(found.span);
  if (found.owner) begin("owner ").address(found.owner);
  if (separator[0] == ',') out.text(")");
}

}  // namespace

const char* name_of(Misuse misuse) {
  switch (misuse) {
    case Misuse::kDoubleFree:
      return "double free";
    case Misuse::kInteriorPointer:
      return "interior pointer";
    case Misuse::kMisalignedPointer:
      return "misaligned pointer";
    case Misuse::kTailSlack:
      return "tail slack";
    case Misuse::kMetadataPointer:
      return "metadata pointer";
    case Misuse::kWrongSize:
      return "wrong size";
  }
  return "misuse";  // no value of the type: the caller's memory is damaged
}

Misuse misuse_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kInterior:
      return Misuse::kInteriorPointer;
    case Verdict::kMisaligned:
      return Misuse::kMisalignedPointer;
    case Verdict::kTailSlack:
      return Misuse::kTailSlack;
    case Verdict::kMetadata:
      return Misuse::kMetadataPointer;
    case Verdict::kFreed:
    case Verdict::kValid:
    case Verdict::kMiss:
      break;
  }
  return Misuse::kDoubleFree;
}

void report_misuse(const char* line_name, Misuse misuse, const char* operation, const void* address,
                   const Classification& found) {
  initialise_options();
  misuses.fetch_add(1, std::memory_order_relaxed);
  const OnError reaction = on_error();
  if (reaction == OnError::kIgnore) return;
  Line line;
  line.text("hakozuna: ").text(line_name).text(": ").text(name_of(misuse)).text(" of ");
  line.address(address).text(" in ").text(operation);
  write_findings(line, found);
  line.write_line(STDERR_FILENO);
  if (reaction == OnError::kAbort) abort();
}

void MisuseNotes::add(Misuse misuse, const void* address, const Classification& found) {
  if (count_ == kMost) {
    misuses.fetch_add(1, std::memory_order_relaxed);
  } else {
    notes_[count_++] = {misuse, address, found};
  }
}

void MisuseNotes::report() const {
  for (uint32_t i = 0; i < count_; ++i) report_misuse(line_name_, notes_[i].misuse, "free", notes_[i].address, notes_[i].found);
}

uint64_t misuse_count() { return misuses.load(std::memory_order_relaxed); }

void fatal(const char* line_name, const char* message, const void* address) {
  Line line;
  line.text("hakozuna: ").text(line_name).text(": ").text(message);
  if (address) line.text(" at ").address(address);
  line.write_line(STDERR_FILENO);
  abort();
}

void warn(const char* message) {
  Line line;
  line.text("hakozuna: ").text(message);
  line.write_line(STDERR_FILENO);
}

}  // namespace hakozuna::core
