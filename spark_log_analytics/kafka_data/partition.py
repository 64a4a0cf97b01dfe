"""Read one partition directory from the first segment to the last."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from eosctl.analysis.fsck.continuity import OffsetOrder, SequenceOrder
from eosctl.analysis.fsck.notes import Notes
from eosctl.model.kafka_data import Damage, Fate, KeyUse, PartitionTransaction, SequenceBreak
from eosctl.storage.names import (
    COMPACTED_TOPICS,
    OFFSETS_TOPIC,
    STATE_TOPIC,
    WITHOUT_SEQUENCES,
    FileState,
    Suffix,
    parse_partition_directory,
    parse_segment_file,
)
from eosctl.storage.scan import DamageKind, LogBatch, LogDamage, scan_log
from eosctl.wire.errors import WireError
from eosctl.wire.internal import offsets
from eosctl.wire.messages.internal.consumer_offsets.offset_commit import OffsetCommitKey
from eosctl.wire.records.control import EndTxnMarker, decode_control
from eosctl.wire.records.header import BatchHeader
from eosctl.wire.records.record import Record
from spark_log_analytics.kafka_data.business_key import KeyOf
from spark_log_analytics.kafka_data.coordinator import CoordinatorReader
from spark_log_analytics.kafka_data.facts import Fact, Subject, Tally
from spark_log_analytics.kafka_data.spread import bucket_of

SHOWN_KEY_CHARS: Final = 120


@dataclass(slots=True)
class _Open:
    """A transaction without a marker yet, with the records that its end will decide."""

    first: BatchHeader
    batch_count: int = 0
    record_count: int = 0
    size_bytes: int = 0
    keys: list[KeyUse] = field(default_factory=list)
    groups: Counter[str] = field(default_factory=Counter)


def segment_logs(directory: Path) -> list[Path]:
    """Return the live segments of a partition directory, in order of their offsets.

    Raises:
        OSError: The directory cannot be listed.
    """
    named = ((parse_segment_file(child.name), child) for child in directory.iterdir())
    live = [(file.offset, child) for file, child in named if file and file[1:] == (Suffix.LOG, FileState.LIVE)]
    return [child for _, child in sorted(live)]


def read_partition(directory: Path, key_of: KeyOf | None = None) -> Iterator[Fact]:
    """Yield the facts of a partition directory, including unreadable parts as damage.

    Args:
        directory: The directory with Kafka's name, such as ``orders-0``.
        key_of: Extracts the business key from a record; None to skip business keys.
    """
    name = parse_partition_directory(directory.name)
    if name is None:
        raise ValueError(directory.name)
    reader = _PartitionReader(name.topic, name.partition, str(directory), key_of)
    try:
        for log in segment_logs(directory):
            yield from reader.segment(log)
    except OSError as error:
        yield Damage(str(error.filename or directory), 0, "unreadable", error.strerror or str(error))
        reader.lose_track()
    yield from reader.finish()


class _PartitionReader:
    """Follows the batches of one partition."""

    def __init__(self, topic: str, partition: int, directory: str, key_of: KeyOf | None) -> None:
        self._topic, self._partition = topic, partition
        self._key_of = None if topic.startswith("__") else key_of
        self._notes = Notes(directory, f"{topic}-{partition}")
        self._offsets, self._sequences = OffsetOrder(), SequenceOrder()
        self._coordinator = CoordinatorReader(partition) if topic == STATE_TOPIC else None
        self._gap_end = 0
        self._open: dict[int, _Open] = {}
        self._counts: Counter[str] = Counter(partitions=1)
        self._durations: Counter[int] = Counter()
        self._groups: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._doubtful: set[int] = set()

    def segment(self, log: Path) -> Iterator[Fact]:
        """Follow one segment."""
        file = parse_segment_file(log.name)
        base_offset = file.offset if file else 0
        self._counts["segments"] += 1
        self._offsets.start_segment(base_offset, log.name, self._notes)
        for item in scan_log(log):
            if isinstance(item, LogDamage):
                if item.kind is not DamageKind.ZERO_TAIL:
                    yield Damage(str(log), item.position, item.kind.value, item.what)
                    self.lose_track()
            elif not item.crc_valid:
                offset = item.header.base_offset
                yield Damage(
                    str(log), item.position, "crc-mismatch", f"the batch at offset {offset} does not match its checksum"
                )
                self.lose_track()
            else:
                yield from self._batch(item, log, base_offset)

    def lose_track(self) -> None:
        """Reset the state, because an earlier part could not be read."""
        self._offsets.lose_track()
        self._sequences.forget()
        self._doubtful |= self._open.keys()

    def _batch(self, batch: LogBatch, log: Path, segment_base: int) -> Iterator[Fact]:
        header = batch.header
        in_place = self._offsets.follow(batch, log.name, segment_base, self._notes)
        if self._offsets.last_gap_end != self._gap_end:
            self._gap_end = self._offsets.last_gap_end
            self._sequences.forget()
        if in_place and self._topic not in WITHOUT_SEQUENCES:
            self._sequences.follow(batch, log.name, self._notes)
        self._counts["batches"] += 1
        self._counts["size_bytes"] += header.size_bytes
        try:
            if header.is_control:
                yield from self._control(batch)
                return
            self._counts["records"] += max(0, header.records_count)
            if self._coordinator is not None:
                yield from self._coordinator.follow(batch)
            uses, groups = self._decoded(batch)
        except WireError as error:
            yield Damage(str(log), batch.position, "malformed", error.what)
            return
        if not header.is_transactional:
            yield from uses
            self._count_groups(groups, "plain")
            return
        txn = self._open.setdefault(header.producer_id, _Open(header))
        txn.batch_count += 1
        txn.record_count += max(0, header.records_count)
        txn.size_bytes += header.size_bytes
        txn.keys += uses
        txn.groups += groups

    def _control(self, batch: LogBatch) -> Iterator[Fact]:
        header = batch.header
        marker = next((one for one in map(decode_control, batch.records()) if isinstance(one, EndTxnMarker)), None)
        if marker is None:
            return
        self._counts["markers"] += 1
        self._counts["marker_bytes"] += header.size_bytes
        self._doubtful.discard(header.producer_id)
        txn = self._open.pop(header.producer_id, None)
        if txn is None:
            self._counts["bare_markers"] += 1
            return
        fate = Fate.COMMITTED if marker.committed else Fate.ABORTED
        ended = self._transaction(txn, fate, header)
        self._durations[bucket_of(header.max_timestamp - ended.started_ms)] += 1
        self._count_groups(txn.groups, fate)
        yield ended
        if marker.committed:
            yield from txn.keys

    def _transaction(self, txn: _Open, fate: Fate, marker: BatchHeader | None) -> PartitionTransaction:
        first = txn.first
        # The cleaner replaces the base timestamp with its horizon; with LogAppendTime, only the other one counts.
        is_base_kept = not first.has_delete_horizon and not first.is_log_append_time
        self._counts[fate] += 1
        self._counts[f"{fate}_records"] += txn.record_count
        return PartitionTransaction(
            self._topic,
            self._partition,
            first.producer_id,
            first.producer_epoch,
            first.base_offset,
            None if marker is None else marker.base_offset,
            fate,
            txn.batch_count,
            txn.record_count,
            txn.size_bytes,
            first.base_timestamp if is_base_kept else first.max_timestamp,
            None if marker is None else marker.max_timestamp,
        )

    def finish(self) -> Iterator[Fact]:
        """Yield the open transactions, the breaks in order, and the counts."""
        for producer_id, txn in self._open.items():
            fate = Fate.UNKNOWN if producer_id in self._doubtful else Fate.OPEN
            self._count_groups(txn.groups, fate)
            yield self._transaction(txn, fate, None)
        cleaned_to = self._offsets.compacted_to
        if self._topic in COMPACTED_TOPICS:
            cleaned_to = max(cleaned_to, self._offsets.last_gap_end)
        for found in self._notes.findings(cleaned_to):
            if found.kind in ("sequence-gap", "duplicate-batch"):
                self._counts[found.kind] += 1
                yield SequenceBreak(
                    self._topic,
                    self._partition,
                    found.kind,
                    -1 if found.producer_id is None else found.producer_id,
                    -1 if found.producer_epoch is None else found.producer_epoch,
                    -1 if found.offset is None else found.offset,
                    found.message,
                )
        if self._coordinator is not None:
            yield from self._coordinator.finish()
        for group, counts in self._groups.items():
            yield Tally(Subject.GROUP, group, counts, {}, {})
        yield Tally(Subject.TOPIC, self._topic, self._counts, self._durations, {})

    def _decoded(self, batch: LogBatch) -> tuple[list[KeyUse], Counter[str]]:
        """Decode the records if business keys or groups are requested."""
        if self._topic == OFFSETS_TOPIC:
            return [], Counter(filter(None, map(_group_of_commit, batch.records())))
        if self._key_of is None:
            return [], Counter()
        found = [(record, self._key_of(record)) for record in batch.records()]
        self._counts["keyless"] += sum(key is None for _, key in found)
        return [self._key_use(record, key, batch.header) for record, key in found if key is not None], Counter()

    def _key_use(self, record: Record, key: bytes, header: BatchHeader) -> KeyUse:
        return KeyUse(
            self._topic,
            hashlib.blake2b(key, digest_size=16).hexdigest(),
            key.decode("utf-8", "backslashreplace")[:SHOWN_KEY_CHARS],
            self._partition,
            record.offset,
            header.producer_id,
            record.timestamp,
        )

    def _count_groups(self, groups: Counter[str], fate: str) -> None:
        for group, count in groups.items():
            self._groups[group][fate] += count


def _group_of_commit(record: Record) -> str:
    """Return the group of a committed offset; empty for other records, and for those of newer releases."""
    try:
        key: Any = offsets.decode_key(record.key or b"")
    except WireError:
        return ""
    return key.group if isinstance(key, OffsetCommitKey) and record.value is not None else ""
