#include "common/base/text.h"
#include "common/core/statistics.h"
#include "common/core/statistics_fields.h"

namespace hakozuna::core {
namespace {

using Cell = FixedText<32>;

constexpr size_t kNameWidth = 22;
constexpr size_t kValueWidth = 14;

void write_bytes_row(TextWriter& out, std::string_view name, uint64_t value) {
  Cell cell;
  cell.bytes(value);
  out.text("  ").left(name, kNameWidth).right(cell.stored(), kValueWidth).text("\n");
}

void write_count_row(TextWriter& out, std::string_view name, uint64_t value) {
  Cell cell;
  cell.decimal(value);
  out.text("  ").left(name, kNameWidth).right(cell.stored(), kValueWidth).text("\n");
}

void write_identity(TextWriter& out, const hakozuna_statistics& statistics) {
  const uint64_t sum = sum_of_parts(statistics);
  out.text("  mapped = live + cached + free in spans + returned + untouched + metadata: ");
  if (sum == statistics.mapped) {
    out.text("holds\n");
  } else {
    out.text("BROKEN, ").decimal(statistics.mapped).text(" is not ").decimal(sum).text("\n");
  }
}

void write_memory(TextWriter& out, const hakozuna_statistics& statistics) {
  out.text("memory\n");
  write_bytes_row(out, "mapped", statistics.mapped);
  for (const StatisticsField& part : kPartsOfMapped) {
    FixedText<32> indented;
    indented.text("  ").text(part.name);
    write_bytes_row(out, indented.stored(), statistics.*part.value);
  }
  write_bytes_row(out, "large blocks, live", statistics.large_live);
  write_bytes_row(out, "large blocks, cached", statistics.large_cached);
  write_bytes_row(out, "reserved, not mapped", statistics.reserved);
  write_identity(out, statistics);
}

void write_counts(TextWriter& out, const hakozuna_statistics& statistics) {
  out.text("counts\n");
  write_count_row(out, "threads", statistics.threads);
  write_count_row(out, "threads so far", statistics.threads_total);
  write_count_row(out, "spans", statistics.spans);
  write_count_row(out, "orphan spans", statistics.orphan_spans);
  write_count_row(out, "adopted spans", statistics.adopted_spans);
  write_count_row(out, "refills", statistics.refills);
  write_count_row(out, "remote frees", statistics.remote_frees);
  write_count_row(out, "foreign frees", statistics.foreign_frees);
  write_count_row(out, "misuses", statistics.misuses);
  write_count_row(out, "purge calls", statistics.purge_calls);
  write_bytes_row(out, "purged", statistics.purged_bytes);
  write_count_row(out, "minor page faults", statistics.minor_faults);
  write_count_row(out, "major page faults", statistics.major_faults);
}

void write_class_row(TextWriter& out, const hakozuna_class_statistics& one) {
  Cell size, spans, live_slots, free_slots, live, used;
  const uint64_t slots = one.live_slots + one.free_slots;
  size.decimal(one.size);
  spans.decimal(one.spans);
  live_slots.decimal(one.live_slots);
  free_slots.decimal(one.free_slots);
  live.bytes(one.size * one.live_slots);
  used.decimal(slots == 0 ? 0 : one.live_slots * 100 / slots).text(" %");
  out.text("  ").right(size.stored(), 10).right(spans.stored(), 10);
  out.right(live_slots.stored(), 14).right(free_slots.stored(), 14);
  out.right(live.stored(), 14).right(used.stored(), 8).text("\n");
}

void write_classes(TextWriter& out, ClassStatistics classes) {
  out.text("size classes in use\n  ").right("slot bytes", 10).right("spans", 10);
  out.right("live slots", 14).right("free slots", 14).right("live", 14).right("used", 8);
  out.text("\n");
  hakozuna_class_statistics one;
  for (size_t i = 0; classes(i, one); ++i) {
    if (one.spans != 0) write_class_row(out, one);
  }
}

}  // namespace

size_t write_statistics_table(char* buffer, size_t capacity, const char* line_name,
                              const hakozuna_statistics& statistics, ClassStatistics classes) {
  TextWriter out(buffer, capacity);
  out.text("hakozuna ");
  write_version(out);
  out.text(", line ").text(line_name).text("\n");
  write_memory(out, statistics);
  write_counts(out, statistics);
  write_classes(out, classes);
  return out.length();
}

}  // namespace hakozuna::core
