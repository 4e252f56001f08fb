#include "launcher/comparison.h"

#include <algorithm>
#include <set>

#include "launcher/process.h"

namespace hakozuna::launcher {

namespace {

using Digest = ScratchFile::Digest;

const Contestant& system_of(const std::vector<Contestant>& contestants) {
  return *std::find_if(contestants.begin(), contestants.end(),
                       [](const Contestant& one) { return one.kind == ContestantKind::kSystem; });
}

std::set<int> endings(const Contestant& contestant) {
  std::set<int> all;
  for (const Sample& sample : contestant.samples) all.insert(sample.wait_status);
  if (contestant.rehearsal) all.insert(contestant.rehearsal->wait_status);
  return all;
}

std::string describe_endings(const std::set<int>& statuses) {
  std::string text;
  for (const int status : statuses) text += (text.empty() ? "" : " or ") + describe_end(status);
  return text;
}

struct Stream {
  const char* name;
  Digest Sample::*digest;
};
constexpr Stream kStreams[] = {{"standard output", &Sample::output},
                               {"standard error", &Sample::errors}};

std::set<Digest> digests(const Contestant& contestant, const Stream& stream) {
  std::set<Digest> all;
  for (const Sample& sample : contestant.samples) all.insert(sample.*stream.digest);
  if (contestant.rehearsal) all.insert((*contestant.rehearsal).*stream.digest);
  return all;
}

std::string bytes(const Digest& digest) { return std::to_string(digest.bytes) + " bytes"; }

std::optional<std::string> stream_difference(const Contestant& one, const Contestant& system,
                                             const Stream& stream) {
  const std::set<Digest> own = digests(one, stream), reference = digests(system, stream);
  if (own == reference) return std::nullopt;
  if (own.size() > 1) return std::string(stream.name) + " varies from run to run";
  return std::string(stream.name) + " differs (" + bytes(*own.begin()) + ", system " +
         bytes(*reference.begin()) + ")";
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Summary summarise(const std::vector<Sample>& samples) {
  std::vector<double> wall, cpu, peak, faults;
  for (const Sample& sample : samples) {
    wall.push_back(sample.wall_ms);
    cpu.push_back(sample.cpu_ms);
    peak.push_back(sample.peak_rss_mib);
    faults.push_back(static_cast<double>(sample.minor_faults));
  }
  Summary summary;
  summary.wall_ms_minimum = wall.empty() ? 0 : *std::min_element(wall.begin(), wall.end());
  summary.wall_ms = median(std::move(wall));
  summary.cpu_ms = median(std::move(cpu));
  summary.peak_rss_mib = median(std::move(peak));
  summary.minor_faults = median(std::move(faults));
  return summary;
}

Behaviour compare_behaviour(const std::vector<Contestant>& contestants) {
  Behaviour behaviour;
  const Contestant& system = system_of(contestants);
  for (const Stream& stream : kStreams) {
    // A program that prints the time or an address differs from itself; nothing can be concluded
    // from that.
    if (digests(system, stream).size() > 1) behaviour.incomparable.push_back(stream.name);
  }
  for (const Contestant& one : contestants) {
    if (one.kind == ContestantKind::kSystem) continue;
    if (endings(one) != endings(system)) {
      behaviour.differences.push_back({one.name, describe_endings(endings(one)) + " (system " +
                                                     describe_endings(endings(system)) + ")"});
    }
    for (const Stream& stream : kStreams) {
      if (digests(system, stream).size() > 1) continue;
      if (const auto what = stream_difference(one, system, stream)) {
        behaviour.differences.push_back({one.name, *what});
      }
    }
  }
  return behaviour;
}

std::optional<size_t> choose(const std::vector<Summary>& summaries) {
  if (summaries.empty()) return std::nullopt;
  double fastest = summaries.front().wall_ms;
  for (const Summary& summary : summaries) fastest = std::min(fastest, summary.wall_ms);
  std::optional<size_t> best;
  for (size_t i = 0; i < summaries.size(); ++i) {
    const Summary& candidate = summaries[i];
    if (candidate.wall_ms > fastest * (1 + kEqualTime)) continue;
    const bool better = !best || candidate.peak_rss_mib < summaries[*best].peak_rss_mib ||
                        (candidate.peak_rss_mib == summaries[*best].peak_rss_mib &&
                         candidate.wall_ms < summaries[*best].wall_ms);
    if (better) best = i;
  }
  return best;
}

Choice choose_line(const std::vector<Contestant>& contestants, const Behaviour& behaviour) {
  std::vector<std::string> names;
  std::vector<Summary> summaries;
  for (const Contestant& one : contestants) {
    const bool differs =
        std::any_of(behaviour.differences.begin(), behaviour.differences.end(),
                    [&](const Difference& difference) { return difference.allocator == one.name; });
    if (one.kind != ContestantKind::kLine || differs) continue;
    names.push_back(one.name);
    summaries.push_back(summarise(one.samples));
  }
  Choice choice;
  const std::optional<size_t> best = choose(summaries);
  if (!best) return choice;
  const Summary system = summarise(system_of(contestants).samples);
  const Summary& line = summaries[*best];
  choice.line = names[*best];
  choice.better_than_system = choose({system, line}) == 1;
  choice.time_ratio = system.wall_ms > 0 ? line.wall_ms / system.wall_ms : 1;
  choice.peak_ratio = system.peak_rss_mib > 0 ? line.peak_rss_mib / system.peak_rss_mib : 1;
  return choice;
}

}  // namespace hakozuna::launcher
