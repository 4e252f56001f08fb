"""The targets of the balanced line hz8, judged row by row.

Throughput and peak memory may miss their bound in two rows; throughput must even there reach 0.8 of it.
"""

from dataclasses import dataclass

from report import tables

SPEED_PEERS = ("mimalloc", "jemalloc", "glibc")
MEMORY_PEERS = ("mimalloc", "tcmalloc", "jemalloc")
POST_RSS_LIMIT = 4 << 20  # bytes
SPEED_FLOOR = 0.8
ROWS_THAT_MAY_MISS = 2


@dataclass(frozen=True)
class RowVerdict:
    row: str
    complete: bool  # every sample of the line and of the peers succeeded
    speed: float | None = None  # ratio to the best of SPEED_PEERS
    post_rss: float | None = None  # bytes
    peak: float | None = None  # ratio to the lowest of MEMORY_PEERS

    def post_holds(self):
        return self.complete and self.post_rss <= POST_RSS_LIMIT

    def speed_holds(self):
        return self.complete and self.speed >= 1

    def speed_floor_holds(self):
        return self.complete and self.speed >= SPEED_FLOOR

    def peak_holds(self):
        return self.complete and self.peak <= 1


def judge_row(row, entries, line):
    needed = {line, *SPEED_PEERS, *MEMORY_PEERS}
    # A peer that fails is out of the comparison; a line that fails has missed the row.
    speeds = [entries[name].ops for name in SPEED_PEERS if name in entries and entries[name].is_clean()]
    peaks = [entries[name].peak_rss for name in MEMORY_PEERS if name in entries and entries[name].is_clean()]
    if not needed <= set(entries) or not entries[line].is_clean() or not speeds or not peaks:
        return RowVerdict(row, False)
    own = entries[line]
    return RowVerdict(row, True, own.ops / max(speeds), own.post_rss, own.peak_rss / min(peaks))


def judge(rows, line):
    return [judge_row(row, entries, line) for row, entries in rows.items()]


def requirements(verdicts):
    """(text, how many rows hold, how many must) for each target."""
    total = len(verdicts)
    most = max(total - ROWS_THAT_MAY_MISS, 0)

    def count(holds):
        return sum(1 for verdict in verdicts if holds(verdict))

    return [
        (f"post RSS <= {POST_RSS_LIMIT >> 20} MiB", count(RowVerdict.post_holds), total),
        (f"throughput >= the best of {', '.join(SPEED_PEERS)}", count(RowVerdict.speed_holds), most),
        (f"throughput >= {SPEED_FLOOR} of it", count(RowVerdict.speed_floor_holds), total),
        (f"peak RSS <= the lowest of {', '.join(MEMORY_PEERS)}", count(RowVerdict.peak_holds), most),
    ]


def _cell(text, holds):
    return f"{text} {'ok' if holds else 'MISSED'}"


def report(rows, line):
    """(text, whether all targets hold)."""
    verdicts = judge(rows, line)
    lines = []
    for verdict in verdicts:
        if verdict.complete:
            lines.append([verdict.row, _cell(tables.ratio(verdict.speed), verdict.speed_holds()),
                          _cell(tables.mib(verdict.post_rss), verdict.post_holds()),
                          _cell(tables.ratio(verdict.peak), verdict.peak_holds())])
        else:
            lines.append([verdict.row, "failed or not measured MISSED", "MISSED", "MISSED"])
    text = f"## Targets of {line}\n\n"
    text += tables.markdown(["row", "throughput / best", "post RSS MiB", "peak / lowest"], lines) + "\n"
    all_hold = bool(verdicts)
    for what, held, needed in requirements(verdicts):
        holds = held >= needed
        all_hold = all_hold and holds
        text += f"- {what}: {held} of {len(verdicts)} rows, {needed} needed: {'holds' if holds else 'MISSED'}\n"
    return text, all_hold
