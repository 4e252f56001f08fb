"""From samples to figures: per row and allocator medians, ranking, and the ratio to the best peer."""

from dataclasses import dataclass

from report import allocators, ranks, tables


@dataclass(frozen=True)
class Figures:
    """What the samples of one allocator in one row come to; None where none succeeded."""
    allocator: str
    samples: int
    failures: tuple  # the texts of the failed samples
    ops: float | None = None
    ops_p25: float | None = None
    ops_min: float | None = None
    post_rss: float | None = None
    peak_rss: float | None = None
    minor_faults: float | None = None

    def is_clean(self):
        return self.ops is not None and not self.failures


def figures(allocator, samples):
    good = [sample for sample in samples if not sample.failure]
    failures = tuple(sample.failure for sample in samples if sample.failure)
    if not good:
        return Figures(allocator, len(samples), failures)
    ops = [sample.ops_per_s for sample in good]
    return Figures(
        allocator, len(samples), failures, ranks.median(ops), ranks.percentile(ops, 0.25), min(ops),
        ranks.median([sample.post_rss for sample in good]), ranks.median([sample.peak_rss for sample in good]),
        ranks.median([sample.minor_faults for sample in good]))


def by_row(samples):
    """{row: {allocator: Figures}}, rows and allocators in the order in which they first appear."""
    grouped = {}
    for sample in samples:
        grouped.setdefault(sample.row, {}).setdefault(sample.allocator, []).append(sample)
    return {row: {name: figures(name, taken) for name, taken in groups.items()} for row, groups in grouped.items()}


def best_peer(row_figures, peers=tuple(allocators.PEERS)):
    """The highest median ops/s of the peers that ran without a failure, or None."""
    rates = [entry.ops for name, entry in row_figures.items() if name in peers and entry.is_clean()]
    return max(rates, default=None)


def ranked(row_figures):
    """By median ops/s, those with a failed sample after all others, those without any good sample last."""
    return sorted(row_figures.values(), key=lambda entry: (not entry.is_clean(), entry.ops is None, -(entry.ops or 0)))


def _failure_text(entry):
    if not entry.failures:
        return ""
    return f"{len(entry.failures)} of {entry.samples} failed: {entry.failures[0][:100]}"


def _row_table(row_figures):
    peer = best_peer(row_figures)
    header = ["allocator", "rank", "M ops/s", "p25", "min", "post MiB", "peak MiB", "minor faults", "x best peer"]
    has_failures = any(entry.failures for entry in row_figures.values())
    if has_failures:
        header.append("failed")
    lines = []
    rank = 0
    for entry in ranked(row_figures):
        # The ceiling is no allocator: it is shown among the others, without a rank of its own.
        is_ranked = entry.ops is not None and entry.allocator != allocators.CEILING
        rank += is_ranked
        lines.append([entry.allocator, rank if is_ranked else tables.NOTHING, tables.mega(entry.ops),
                      tables.mega(entry.ops_p25), tables.mega(entry.ops_min), tables.mib(entry.post_rss),
                      tables.mib(entry.peak_rss), tables.whole(entry.minor_faults),
                      tables.ratio(entry.ops / peer if entry.ops and peer else None)])
        if has_failures:
            lines[-1].append(_failure_text(entry))
    return tables.markdown(header, lines)


def _overview(rows, names, title, value):
    lines = [[row] + [value(entries[name], entries) if name in entries else tables.NOTHING for name in names]
             for row, entries in rows.items()]
    return f"### {title}\n\n" + tables.markdown(["row", *names], lines)


def _relative(entry, entries):
    peer = best_peer(entries)
    return tables.ratio(entry.ops / peer if entry.ops and peer else None)


def markdown(samples, heading):
    """The text of summary.md."""
    rows = by_row(samples)
    names = list(dict.fromkeys(sample.allocator for sample in samples))
    parts = [f"# Same-run matrix\n\n{heading}\n\n"
             "Medians. ops/s counts allocations; p25 and min are of ops/s. Post: resident when all threads have ended.\n"
             f"Best peer: the fastest of {', '.join(allocators.PEERS)} in the row.\n\n## Overview\n"]
    parts.append(_overview(rows, names, "Throughput, x best peer", _relative))
    parts.append(_overview(rows, names, "Post RSS, MiB", lambda entry, _: tables.mib(entry.post_rss)))
    parts.append(_overview(rows, names, "Peak RSS, MiB", lambda entry, _: tables.mib(entry.peak_rss)))
    parts.append("## Rows\n")
    parts += [f"### {row}\n\n{_row_table(entries)}" for row, entries in rows.items()]
    return "\n".join(parts)
