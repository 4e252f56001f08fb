"""What one run of a program is measured by."""

from dataclasses import dataclass


class MeasuringError(Exception):
    """The program did not do its work; the text says why."""


@dataclass(frozen=True)
class Measured:
    score: float  # seconds or requests per second, as the program's module says
    peak_rss: int  # bytes
    rest_rss: int | None = None  # bytes still held when the work is done and its data is gone, where the program stays


@dataclass(frozen=True)
class Sample:
    app: str
    allocator: str
    run: int
    failure: str = ""
    measured: Measured | None = None
