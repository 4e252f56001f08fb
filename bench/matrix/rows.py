"""The rows of the matrix."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    name: str
    min_size: int
    max_size: int
    remote_pct: int = 0
    interleaved: int = 0
    live_window: int = 0
    max_iterations: int | None = None  # where more would need more memory than a machine has

    def is_local(self):
        """Whether each thread has one live block at a time."""
        return self.remote_pct == 0 and self.live_window == 0

    def arguments(self, threads, iterations, run):
        iterations = min(iterations, self.max_iterations or iterations)
        values = {
            "--threads": threads, "--iters": iterations, "--min-size": self.min_size, "--max-size": self.max_size,
            "--remote-pct": self.remote_pct, "--interleaved": self.interleaved, "--live-window": self.live_window,
            "--runs": 1, "--run": run}
        return [str(word) for pair in values.items() for word in pair]


ROWS = [
    Row("guard_local0", 16, 2048),
    Row("main_local0", 16, 32768),
    Row("medium_local0", 4097, 65536),
    Row("fixed24_local0", 24576, 24576),
    Row("fixed48_local0", 49152, 49152),
    Row("small_interleaved_remote90", 16, 4096, remote_pct=90, interleaved=1),
    Row("main_interleaved_r50", 16, 32768, remote_pct=50, interleaved=1),
    Row("main_interleaved_r90", 16, 32768, remote_pct=90, interleaved=1),
    Row("medium_interleaved_r50", 4097, 65536, remote_pct=50, interleaved=1),
    Row("medium_phase_r90", 4097, 65536, remote_pct=90, live_window=4096, max_iterations=1000),
    Row("cross128_r90", 16, 131072, remote_pct=90, interleaved=1),
]
