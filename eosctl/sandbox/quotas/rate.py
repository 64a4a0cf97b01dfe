"""The rate of a quantity over the last windows (`Rate` over `WindowedSum`), and the throttle time that it needs."""

from __future__ import annotations

from typing import Final

_MILLISECONDS: Final = 1000


class _Sample:
    """One window: when it began, when it last received a value, and their sum."""

    __slots__ = ("last_ms", "start_ms", "total")

    def __init__(self, now_ms: int) -> None:
        self.reset(now_ms)

    def reset(self, now_ms: int) -> None:
        """Empty the window and begin it now."""
        self.start_ms = self.last_ms = now_ms
        self.total = 0.0


class WindowedRate:
    """The rate per second over `window_count` windows of `window_ms` each.

    Missing earlier windows count as empty ones, so that a first burst is measured over all windows but the last.
    """

    def __init__(self, window_count: int, window_ms: int) -> None:
        self._window_count = window_count
        self._window_ms = window_ms
        self._samples: list[_Sample] = []
        self._current = 0

    def record(self, value: float, now_ms: int) -> None:
        """Add a value to the current window."""
        if not self._samples:
            self._samples.append(_Sample(now_ms))
        sample = self._samples[self._current]
        if now_ms - sample.start_ms >= self._window_ms:
            sample = self._advance(now_ms)
        sample.total += value
        sample.last_ms = now_ms

    def measure(self, now_ms: int) -> float:
        """Return the rate per second."""
        window_ms = self._measured_ms(now_ms)
        return sum(sample.total for sample in self._samples) / (window_ms / _MILLISECONDS) if window_ms else 0.0

    def throttle_ms(self, limit: float, now_ms: int) -> int:
        """Return the milliseconds without further values that bring the rate down to `limit`; 0 if it is within."""
        rate = self.measure(now_ms)
        if rate <= limit:
            return 0
        return int((rate - limit) / limit * self._measured_ms(now_ms) + 0.5)

    def _advance(self, now_ms: int) -> _Sample:
        self._current = (self._current + 1) % (self._window_count + 1)
        if self._current == len(self._samples):
            self._samples.append(_Sample(now_ms))
        else:
            self._samples[self._current].reset(now_ms)
        return self._samples[self._current]

    def _measured_ms(self, now_ms: int) -> int:
        """Drop windows that are too old, and return the time over which the rest is measured."""
        for sample in self._samples:
            if now_ms - sample.last_ms >= self._window_count * self._window_ms:
                sample.reset(now_ms)
        elapsed_ms = now_ms - min((sample.start_ms for sample in self._samples), default=now_ms)
        missing = self._window_count - 1 - elapsed_ms // self._window_ms
        return elapsed_ms + max(0, missing) * self._window_ms
