"""Markdown tables that also read well in a terminal, and numbers for them."""

NOTHING = "-"


def mib(count):
    return NOTHING if count is None else f"{count / (1 << 20):.2f}"


def mega(count):
    """A rate in millions, with three figures or more."""
    if count is None:
        return NOTHING
    value = count / 1e6
    return f"{value:.1f}" if value >= 100 else f"{value:.2f}" if value >= 1 else f"{value:.3f}"


def ratio(value):
    return NOTHING if value is None else f"{value:.2f}"


def whole(value):
    return NOTHING if value is None else f"{value:,.0f}"


def markdown(header, rows):
    """A table; the first column is left-aligned, the others right-aligned."""
    cells = [[str(cell).replace("|", "\\|") for cell in row] for row in [header, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]

    def line(row):
        padded = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        return "| " + " | ".join(padded) + " |"

    rule = "|" + "|".join(["-" * (widths[0] + 2)] + ["-" * (width + 1) + ":" for width in widths[1:]]) + "|"
    return "\n".join([line(cells[0]), rule, *map(line, cells[1:])]) + "\n"
