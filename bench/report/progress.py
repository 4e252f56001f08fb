"""A line on stderr that says how far a run is and how long it will still take."""

import sys
import time


def _duration(seconds):
    minutes, seconds = divmod(int(seconds + 0.5), 60)
    return f"{minutes}m{seconds:02d}s" if minutes else f"{seconds}s"


class Progress:
    """On a terminal one line that is rewritten; elsewhere a new line every few seconds, so that a log stays readable."""

    SECONDS_BETWEEN_LINES = 10

    def __init__(self, total, stream=None):
        self._stream = stream or sys.stderr
        self._total = total
        self._done = 0
        self._begin = self._last_line = time.monotonic()
        self._width = 0

    def step(self, what):
        """Called before each of the `total` steps."""
        now = time.monotonic()
        left = ""
        if self._done:
            left = f", {_duration((now - self._begin) / self._done * (self._total - self._done))} left"
        text = f"[{self._done + 1}/{self._total}] {what}{left}"
        self._done += 1
        if self._stream.isatty():
            self._stream.write("\r" + text.ljust(self._width))
            self._width = len(text)
        elif self._done == 1 or now - self._last_line >= self.SECONDS_BETWEEN_LINES:
            self._last_line = now
            self._stream.write(text + "\n")
        self._stream.flush()

    def finish(self):
        if self._stream.isatty():
            self._stream.write("\r" + " " * self._width + "\r")
        self._stream.write(f"{self._done} samples in {_duration(time.monotonic() - self._begin)}\n")
        self._stream.flush()
