"""The picture of a run: throughput against the best peer, post and peak memory, per row and allocator."""

from report import allocators

from summary import best_peer

LINE_COLOURS = ["#c0392b", "#e67e22", "#8e44ad", "#d35477"]
PEER_COLOURS = {"mimalloc": "#2471a3", "tcmalloc": "#1e8449", "jemalloc": "#7d8a2e", "glibc": "#7f8c8d",
                "ceiling": "#cccccc"}


def _colours(names):
    own = iter(LINE_COLOURS * len(names))
    return {name: PEER_COLOURS.get(name) or next(own) for name in names}


def _bars(axis, rows, names, colours, value, title, logarithmic):
    height = 0.8 / len(names)
    for index, name in enumerate(names):
        points = [(position + (index + 0.5) * height - 0.4, value(entries[name], entries))
                  for position, entries in enumerate(rows.values()) if name in entries]
        points = [(position, length) for position, length in points if length is not None]
        if not points:
            continue
        axis.barh([position for position, _ in points], [length for _, length in points], height * 0.9,
                  color=colours[name], label=name)
    axis.set_title(title, fontsize=11)
    axis.set_yticks(range(len(rows)), list(rows))
    axis.set_ylim(len(rows) - 0.5, -0.5)
    axis.grid(axis="x", alpha=0.3)
    axis.set_axisbelow(True)
    if logarithmic:
        axis.set_xscale("log")


def _relative(entry, entries):
    peer = best_peer(entries)
    return entry.ops / peer if entry.ops and peer else None


def _mib(count):
    return None if count is None else count / (1 << 20)


def draw(rows, path, heading):
    """Writes a PNG. Raises ImportError where matplotlib is not installed."""
    import matplotlib  # only here: everything else works without it
    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = list(dict.fromkeys(name for entries in rows.values() for name in entries))
    colours = _colours(names)
    figure, axes = pyplot.subplots(1, 3, figsize=(18, 1.5 + 0.16 * len(rows) * (len(names) + 1)), sharey=True)
    without_ceiling = [name for name in names if name != allocators.CEILING] or names
    _bars(axes[0], rows, without_ceiling, colours, _relative, "throughput, x best peer (more is better)", False)
    axes[0].axvline(1, color="black", linewidth=0.8)
    _bars(axes[1], rows, names, colours, lambda entry, _: _mib(entry.post_rss),
          "post RSS, MiB (less is better)", True)
    _bars(axes[2], rows, names, colours, lambda entry, _: _mib(entry.peak_rss),
          "peak RSS, MiB (less is better)", True)
    handles, labels = axes[1].get_legend_handles_labels()
    figure.suptitle(heading, fontsize=9)
    figure.legend(handles, labels, loc="lower center", ncol=len(names), frameon=False)
    figure.tight_layout(rect=(0, 0.04, 1, 0.99))
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
