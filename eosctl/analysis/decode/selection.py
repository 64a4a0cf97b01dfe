"""Selection of batches and records of a log."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from eosctl.analysis.decode.outcomes import Outcome
from eosctl.model.log_bounds import EVERYTHING, Bounds, Only
from eosctl.wire.records.header import BatchHeader
from eosctl.wire.records.record import Record


class Selection(NamedTuple):
    """The filters of a command line; a record must match all of them.

    Attributes:
        producer_ids: Selected producer ids; all if empty.
        offsets: Selected offsets.
        times: Selected timestamps, milliseconds since the epoch.
        only: Selected kind of batch.
    """

    producer_ids: frozenset[int] = frozenset()
    offsets: Bounds = EVERYTHING
    times: Bounds = EVERYTHING
    only: Only | None = None

    def keeps_batch(self, header: BatchHeader, outcome_of: Callable[[BatchHeader], Outcome]) -> bool:
        """Return whether a batch may contain selected records.

        A batch header has the largest timestamp and, unless the cleaner replaced it, the first record's.
        """
        if self.producer_ids and header.producer_id not in self.producer_ids:
            return False
        if not self.offsets.overlaps(header.base_offset, header.last_offset):
            return False
        if self.times != EVERYTHING:
            # Records within a batch need not be in time order, so only the upper bound is certain.
            if self.times.first is not None and header.max_timestamp < self.times.first:
                return False
            single = header.records_count == 1 and not header.has_delete_horizon
            if single and not self.times.overlaps(header.max_timestamp, header.max_timestamp):
                return False
        match self.only:
            case None:
                return True
            case Only.CONTROL:
                return header.is_control
            case Only.DATA:
                return not header.is_control
        return outcome_of(header).value == self.only.value

    def keeps_record(self, record: Record) -> bool:
        """Return whether a record of a selected batch is selected."""
        offset, timestamp = record.offset, record.timestamp
        return self.offsets.overlaps(offset, offset) and self.times.overlaps(timestamp, timestamp)

    @property
    def needs_outcomes(self) -> bool:
        """Return whether markers must be read before the first batch can be judged."""
        return self.only is not None and self.only.needs_outcomes

    @property
    def selects_records(self) -> bool:
        """Return whether records of a batch must be selected individually."""
        return self.offsets != EVERYTHING or self.times != EVERYTHING
