"""The one rule for medians and percentiles."""

import math


def percentile(values, fraction):
    """The value at rank floor((n - 1) * fraction + 0.5) of the sorted values: always one that was measured."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no values")
    return ordered[math.floor((len(ordered) - 1) * fraction + 0.5)]


def median(values):
    return percentile(values, 0.5)
