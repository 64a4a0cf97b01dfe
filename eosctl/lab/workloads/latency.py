"""Latency histograms in bounded memory, with a bounded error of percentiles."""

from __future__ import annotations

from typing import Final, NamedTuple

_SUB_BUCKET_BITS: Final = 7
_MAX_SHIFT: Final = 32


class Percentiles(NamedTuple):
    """A distribution in milliseconds; zeros without a record."""

    recorded_count: int
    p50_ms: float
    p90_ms: float
    p99_ms: float
    p999_ms: float
    max_ms: float


class LatencyHistogram:
    """Counts latencies in buckets of growing size, as HDR histograms do.

    A percentile is at most 1/128 above the true one. Memory is fixed at about 4,300 counters.
    """

    def __init__(self) -> None:
        self._counts = [0] * ((_MAX_SHIFT + 2) << _SUB_BUCKET_BITS)
        self._max_us = 0

    def record(self, latency_s: float) -> None:
        """Add a latency in seconds."""
        latency_us = int(latency_s * 1_000_000)
        if latency_us <= 0:
            latency_us = 0
        shift = latency_us.bit_length() - _SUB_BUCKET_BITS - 1
        if shift < 0:
            shift = 0
        elif shift > _MAX_SHIFT:
            shift, latency_us = _MAX_SHIFT, (1 << _MAX_SHIFT + _SUB_BUCKET_BITS + 1) - 1
        self._counts[(shift << _SUB_BUCKET_BITS) + (latency_us >> shift)] += 1
        if latency_us > self._max_us:
            self._max_us = latency_us

    def clear(self) -> None:
        """Remove all records."""
        self._counts = [0] * len(self._counts)
        self._max_us = 0

    def percentiles(self) -> Percentiles:
        """Return the distribution."""
        total = sum(self._counts)
        if not total:
            return Percentiles(recorded_count=0, p50_ms=0.0, p90_ms=0.0, p99_ms=0.0, p999_ms=0.0, max_ms=0.0)
        fractions = (0.5, 0.9, 0.99, 0.999)
        found = iter(self._at_ranks([max(1, -int(-total * fraction // 1)) for fraction in fractions]))
        p50, p90, p99, p999 = (min(value_us, self._max_us) / 1000 for value_us in found)
        return Percentiles(
            recorded_count=total, p50_ms=p50, p90_ms=p90, p99_ms=p99, p999_ms=p999, max_ms=self._max_us / 1000
        )

    def _at_ranks(self, ranks: list[int]) -> list[int]:
        """Return the upper bound of the bucket with the n-th smallest latency, for ascending n."""
        values: list[int] = []
        seen = 0
        for index, count in enumerate(self._counts):
            seen += count
            while len(values) < len(ranks) and seen >= ranks[len(values)]:
                values.append(_upper_us(index))
        return values


def _upper_us(index: int) -> int:
    shift = max(0, (index >> _SUB_BUCKET_BITS) - 1)
    lowest = (index - (shift << _SUB_BUCKET_BITS)) << shift
    return lowest + (1 << shift) - 1
