"""The newest records of a partition of `__transaction_state`, one in each batch as coordinators write, and data."""

from __future__ import annotations

from bisect import bisect_right
from typing import Final, NamedTuple

from eosctl.wire.internal.transaction_log import TransactionKey, TransactionValue, encode_key, encode_value
from eosctl.wire.messages.internal.transaction_state.transaction_log import PartitionsSchema
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record

ONGOING, PREPARE_COMMIT, COMPLETE_COMMIT = 1, 2, 4
STEPS: Final = (ONGOING, PREPARE_COMMIT, COMPLETE_COMMIT)


class SyntheticLog(NamedTuple):
    """Batches one after the other, and where each begins."""

    data: bytes
    starts: tuple[int, ...]

    def since(self, offset: int, most_bytes: int) -> bytes:
        """Return the whole batches from an offset on: at least one, at most `most_bytes`."""
        if offset >= len(self.starts):
            return b""
        begin = self.starts[offset]
        last = bisect_right(self.starts, begin + most_bytes) - 1
        end = self.starts[max(last, offset + 1)] if max(last, offset + 1) < len(self.starts) else len(self.data)
        return self.data[begin:end]


def data_batch(start: int, end: int) -> bytes:
    """Return a transactional batch with the offsets from `start` to before `end`, or no bytes for an empty range."""
    records = [Record(0, 0, None, b"order")] * (end - start)
    return (
        encode_batch(records, base_offset=start, producer_id=1, producer_epoch=0, transactional=True)
        if records
        else b""
    )


def transaction_log(record_count: int, now_ms: int) -> SyntheticLog:
    """Return a log in which ids commit one transaction after the other, the newest a minute ago."""
    batches, starts, at = [], [], 0
    for offset in range(record_count):
        number, step = offset // len(STEPS), STEPS[offset % len(STEPS)]
        written_ms = now_ms - 60_000 - (record_count - offset)
        partitions = [PartitionsSchema(f"topic-{number % 100:05d}", [number % 100])] if step != COMPLETE_COMMIT else []
        value = TransactionValue(number, 0, 60_000, step, partitions, written_ms, written_ms - 5)
        key = encode_key(TransactionKey(f"log-{number:07d}"))
        batch = encode_batch(
            [Record(0, written_ms, key, encode_value(value, 0))], base_offset=offset, partition_leader_epoch=0
        )
        starts.append(at)
        batches.append(batch)
        at += len(batch)
    return SyntheticLog(b"".join(batches), tuple(starts))
