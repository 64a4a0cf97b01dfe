"""A summary of a log."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from eosctl.wire.records.header import BatchHeader

#: Maximum number of listed gaps between batches; more are only counted.
_LISTED_GAPS = 20


@dataclass(slots=True)
class LogSummary:
    """Counts over the batches of logs; offsets and gaps are in log order.

    Attributes:
        first_timestamp: Smallest max timestamp of a batch, milliseconds since the epoch; None without batches.
        last_timestamp: Largest max timestamp.
        gaps: The first gaps between batches: offset expected, offset found.
    """

    batches: int = 0
    control_batches: int = 0
    records: int = 0
    size_bytes: int = 0
    damaged: int = 0
    first_offset: int | None = None
    last_offset: int | None = None
    first_timestamp: int | None = None
    last_timestamp: int | None = None
    gap_count: int = 0
    gaps: list[tuple[int, int]] = field(default_factory=list)
    codecs: Counter[int] = field(default_factory=Counter)
    magics: Counter[int] = field(default_factory=Counter)
    producers: set[int] = field(default_factory=set)
    transactions_committed: int = 0
    transactions_aborted: int = 0
    transactions_open: int = 0

    def add(self, header: BatchHeader) -> None:
        """Count a batch."""
        self.batches += 1
        self.records += header.records_count
        self.size_bytes += header.size_bytes
        self.codecs[header.attributes & 7] += 1
        self.magics[header.magic] += 1
        if header.is_control:
            self.control_batches += 1
        if header.producer_id >= 0:
            self.producers.add(header.producer_id)
        if self.last_offset is None:
            self.first_offset = header.base_offset
        elif header.base_offset > self.last_offset + 1:
            self.gap_count += 1
            if len(self.gaps) < _LISTED_GAPS:
                self.gaps.append((self.last_offset + 1, header.base_offset))
        self.last_offset = header.last_offset
        timestamp = header.max_timestamp
        if timestamp >= 0:
            if self.first_timestamp is None or timestamp < self.first_timestamp:
                self.first_timestamp = timestamp
            if self.last_timestamp is None or timestamp > self.last_timestamp:
                self.last_timestamp = timestamp

    def start_partition(self) -> None:
        """Reset the last offset, because the next batch belongs to another partition."""
        self.last_offset = None
