"""Logs of small segments on a disk of their own, and what a reader finds in them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.log.cleaning.cleaner import LogCleaning
from eosctl.sandbox.log.cleaning.plan import plan_cleaning
from eosctl.sandbox.log.directory import LogDirectory
from eosctl.sandbox.log.partition_log import PartitionLog
from eosctl.sandbox.log.topic_settings import TopicSettings
from eosctl.sandbox.ticks import Ticks
from eosctl.wire.records.batch import decode_header, decode_records, encode_batch
from eosctl.wire.records.control import EndTxnMarker, decode_control, encode_marker_batch
from eosctl.wire.records.record import Record
from tests.sandbox.harness import VirtualLoop

TABLE = TopicPartition("table", 0)
TOPIC_ID = bytes(range(16))
NOW = 1_790_000_000_000
COMPACTED = TopicSettings(is_compacted=True, is_deleted=False, segment_bytes=500, index_interval_bytes=100)


class Sent(NamedTuple):
    """A batch that a history holds: one kind of producer, and its keys with their values."""

    producer_id: int  # -1: without id
    transactional: bool
    records: tuple[tuple[bytes | None, bytes | None], ...]


class Ended(NamedTuple):
    """The end of a producer's transaction."""

    producer_id: int
    committed: bool


class Disk:
    """A log directory that may be closed, or crash, and be opened again."""

    def __init__(self, path: Path, settings: TopicSettings = COMPACTED) -> None:
        self.path = path
        self.ticks = Ticks(VirtualLoop())
        self.settings = settings
        self.sequences: dict[int, int] = {}
        self.open()

    def open(self) -> None:
        self.logs = LogDirectory(self.path, self.ticks)
        self.logs.open_directory(1, "cluster", bytes(16))
        self.log = self.logs.open(TABLE, TOPIC_ID, self.settings)
        self.log.advance_high_watermark(self.log.end_offset)

    def reopen(self, *, clean: bool) -> None:
        self.ticks.run()
        self.logs.close(clean=clean)
        self.open()

    def write(self, *history: Sent | Ended, now_ms: int = NOW) -> None:
        for event in history:
            if isinstance(event, Ended):
                batch = encode_marker_batch(EndTxnMarker(event.committed, 5), event.producer_id, 0, now_ms)
            else:
                sequence = self.sequences.get(event.producer_id, 0) if event.producer_id >= 0 else -1
                if event.producer_id >= 0:
                    self.sequences[event.producer_id] = sequence + len(event.records)
                batch = encode_batch(
                    [Record(0, now_ms, key, value) for key, value in event.records],
                    producer_id=event.producer_id,
                    producer_epoch=0 if event.producer_id >= 0 else -1,
                    base_sequence=sequence,
                    transactional=event.transactional,
                )
            self.log.append_as_leader(batch, decode_header(batch), 0, now_ms)
        self.log.advance_high_watermark(self.log.end_offset)

    def clean(self, now_ms: int = NOW, max_keys: int = 1000) -> int:
        """Clean once; returns up to where the log is clean."""
        plan = plan_cleaning(self.log, now_ms)
        if plan is None:
            return 0
        cleaning = LogCleaning(self.log, plan, now_ms, max_keys)
        for _ in cleaning.steps():
            pass
        self.log.cleaned_until = cleaning.end_offset
        return cleaning.end_offset


class Seen(NamedTuple):
    """A record that a read_committed reader gets."""

    offset: int
    key: bytes | None
    value: bytes | None


def read_committed(log: PartitionLog) -> list[Seen]:
    """Read as a consumer does, fetch after fetch, leaving out what was aborted."""
    found: list[Seen] = []
    offset, end = log.start_offset, log.last_stable_offset()
    aborting: set[int] = set()
    while offset < end:
        data = log.read(offset, 300, end)
        if not data:
            break
        position = 0
        while position < len(data):
            header = decode_header(data, position)
            for aborted in log.aborted_transactions(header.base_offset, header.next_offset):
                if aborted.first_offset <= header.last_offset:
                    aborting.add(aborted.producer_id)
            records = decode_records(data, header, position)
            if header.is_control:
                if records and isinstance(decode_control(records[0]), EndTxnMarker):
                    aborting.discard(header.producer_id)
            elif not (header.is_transactional and header.producer_id in aborting):
                found += [Seen(record.offset, record.key, record.value) for record in records]
            position += header.size_bytes
            offset = header.next_offset
    return [seen for seen in found if seen.offset >= log.start_offset]
