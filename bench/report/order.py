"""The order of the samples: allocators in turn, each run starting with another one."""


def rotated(items, run):
    """`items`, beginning with the one whose turn it is to be first in this run."""
    start = run % len(items)
    return items[start:] + items[:start]
