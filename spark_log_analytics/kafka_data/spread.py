"""Count durations in histograms that can be added up; buckets grow with the value, for an error of at most 1%."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from eosctl.model.kafka_data import Spread

_KEPT_BITS: Final = 7


def bucket_of(duration_ms: int) -> int:
    """Return the bucket of a duration: the duration rounded up to seven significant bits; 0 if it is negative."""
    if duration_ms <= 0:
        return 0
    shift = max(0, duration_ms.bit_length() - _KEPT_BITS)
    return -(-duration_ms >> shift) << shift


def spread_of(buckets: Mapping[int, int]) -> Spread:
    """Return the distribution of a histogram's durations."""
    count = sum(buckets.values())
    if not count:
        return Spread(0, 0, 0, 0)
    return Spread(count, _quantile(buckets, count, 50), _quantile(buckets, count, 99), max(buckets))


def _quantile(buckets: Mapping[int, int], count: int, percent: int) -> int:
    due, seen = -(-count * percent // 100), 0
    for bucket, size in sorted(buckets.items()):
        seen += size
        if seen >= due:
            return bucket
    raise AssertionError("a histogram contains its count")
