#include "common/core/statistics.h"

#include "common/base/text.h"
#include "common/core/statistics_fields.h"

namespace hakozuna::core {

uint64_t sum_of_parts(const hakozuna_statistics& statistics) {
  uint64_t sum = 0;
  for (const StatisticsField& part : kPartsOfMapped) sum += statistics.*part.value;
  return sum;
}

bool identity_holds(const hakozuna_statistics& statistics) {
  return statistics.mapped == sum_of_parts(statistics);
}

void write_version(TextWriter& out) {
  out.decimal(HAKOZUNA_VERSION_MAJOR).text(".");
  out.decimal(HAKOZUNA_VERSION_MINOR).text(".");
  out.decimal(HAKOZUNA_VERSION_PATCH);
}

size_t write_statistics_json(char* buffer, size_t capacity, const char* line_name,
                             const hakozuna_statistics& statistics, ClassStatistics classes) {
  TextWriter out(buffer, capacity);
  out.text("{\"version\": \"");
  write_version(out);
  out.text("\", \"line\": \"").text(line_name).text("\", \"identity_holds\": ");
  out.text(identity_holds(statistics) ? "true" : "false");
  out.text(", \"struct_size\": ").decimal(statistics.struct_size);
  for (const StatisticsField& field : kStatisticsFields) {
    out.text(", \"").text(field.name).text("\": ").decimal(statistics.*field.value);
  }
  out.text(", \"classes\": [");
  hakozuna_class_statistics one;
  for (size_t i = 0; classes(i, one); ++i) {
    out.text(i == 0 ? "{\"size\": " : ", {\"size\": ").decimal(one.size);
    out.text(", \"spans\": ").decimal(one.spans);
    out.text(", \"live_slots\": ").decimal(one.live_slots);
    out.text(", \"free_slots\": ").decimal(one.free_slots).text("}");
  }
  out.text("]}\n");
  return out.length();
}

// Where glibc gives a count or a peak that we do not keep, the attribute or element is left out: no
// figure is better than a wrong one.
size_t write_malloc_info_xml(char* buffer, size_t capacity, const char* line_name,
                             const hakozuna_statistics& statistics, ClassStatistics classes) {
  TextWriter out(buffer, capacity);
  out.text("<malloc version=\"1\" allocator=\"hakozuna ").text(line_name).text("\">\n");
  out.text("<heap nr=\"0\">\n<sizes>\n");
  hakozuna_class_statistics one;
  uint64_t from = 1;
  uint64_t free_slots = 0;
  for (size_t i = 0; classes(i, one); ++i) {
    if (one.free_slots != 0) {
      out.text("  <size from=\"").decimal(from).text("\" to=\"").decimal(one.size);
      out.text("\" total=\"").decimal(one.size * one.free_slots);
      out.text("\" count=\"").decimal(one.free_slots).text("\"/>\n");
    }
    from = one.size + 1;
    free_slots += one.free_slots;
  }
  const uint64_t in_heap = statistics.mapped - statistics.large_live - statistics.large_cached;
  out.text("</sizes>\n<total type=\"fast\" count=\"0\" size=\"0\"/>\n");
  out.text("<total type=\"rest\" count=\"").decimal(free_slots).text("\" size=\"");
  out.decimal(statistics.free_in_spans).text("\"/>\n");
  out.text("<system type=\"current\" size=\"").decimal(in_heap).text("\"/>\n</heap>\n");
  out.text("<total type=\"mmap\" size=\"").decimal(statistics.large_live).text("\"/>\n");
  out.text("<system type=\"current\" size=\"").decimal(statistics.mapped).text("\"/>\n");
  out.text("<aspace type=\"total\" size=\"").decimal(statistics.reserved).text("\"/>\n");
  out.text("</malloc>\n");
  return out.length();
}

}  // namespace hakozuna::core
