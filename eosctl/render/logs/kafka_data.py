"""Render the transactions in Kafka's files as tables and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from eosctl.model.kafka_data import (
    CoordinatedTransaction,
    Damage,
    DataSummary,
    DuplicateKey,
    GroupSummary,
    IdSummary,
    KeyUse,
    PartitionTransaction,
    SequenceBreak,
    Spread,
    TopicSummary,
)
from eosctl.render.envelope import Envelope, envelope
from eosctl.render.formats import OutputFormat
from eosctl.render.one import render_one
from eosctl.render.page import Block, Field, Grid, Line, Style, render_page
from eosctl.text import count_text, duration_text, time_text

SHOWN: Final = 20
"""How many rows of a table people see; machine formats have all that was kept."""


class DataReading(NamedTuple):
    """A summary with what was read for it: partitions, and replicas of them that were left out."""

    summary: DataSummary
    partition_count: int
    other_replica_count: int
    business_key: str | None


class TopicView(msgspec.Struct, frozen=True):
    """A topic's data."""

    topic: str
    partition_count: int
    size_bytes: int
    batch_count: int
    record_count: int
    committed_count: int
    aborted_count: int
    open_count: int
    unknown_count: int
    abort_ratio: float | None
    aborted_record_count: int
    marker_count: int
    marker_bytes: int
    marker_share: float
    sequence_gap_count: int
    duplicate_batch_count: int
    duration: Spread


class IdView(msgspec.Struct, frozen=True):
    """A transactional id by its coordinator."""

    transactional_id: str
    committed_count: int
    aborted_count: int
    timed_out_count: int
    open_count: int
    ending_count: int
    abort_ratio: float | None
    duration: Spread
    ending: Spread


class RecordView(msgspec.Struct, frozen=True):
    """A record with a business key: where it is, who wrote it, when."""

    partition: int
    offset: int
    producer_id: int
    timestamp_ms: int


class DuplicateView(msgspec.Struct, frozen=True):
    """A business key that is there more than once, with the first and the last of its records."""

    topic: str
    key: str
    record_count: int
    first: RecordView
    last: RecordView


class KafkaDataView(Envelope, frozen=True):
    """The transactions in Kafka's files."""

    partition_count: int
    other_replica_count: int
    topics: tuple[TopicView, ...]
    transactional_ids: tuple[IdView, ...]
    groups: tuple[GroupSummary, ...]
    open_transactions: tuple[PartitionTransaction, ...]
    unfinished: tuple[CoordinatedTransaction, ...]
    sequence_breaks: tuple[SequenceBreak, ...]
    business_key: str | None
    duplicate_keys: tuple[DuplicateView, ...]
    duplicate_key_count: int
    keyless_record_count: int
    damages: tuple[Damage, ...]
    damage_count: int


def kafka_data_view(reading: DataReading, command: str, generated_at_ms: int) -> KafkaDataView:
    """Put a summary into its machine-readable form."""
    summary = reading.summary
    return KafkaDataView(
        *envelope("kafka-data", command, generated_at_ms),
        partition_count=reading.partition_count,
        other_replica_count=reading.other_replica_count,
        topics=tuple(
            TopicView(**one._asdict(), abort_ratio=one.abort_ratio, marker_share=one.marker_share)
            for one in summary.topics
        ),
        transactional_ids=tuple(IdView(**one._asdict(), abort_ratio=one.abort_ratio) for one in summary.ids),
        groups=summary.groups,
        open_transactions=summary.open_transactions,
        unfinished=summary.unfinished,
        sequence_breaks=summary.breaks,
        business_key=reading.business_key,
        duplicate_keys=tuple(
            DuplicateView(one.topic, one.key, one.record_count, _record_view(one.first), _record_view(one.last))
            for one in summary.duplicates
        ),
        duplicate_key_count=summary.duplicate_key_count,
        keyless_record_count=summary.keyless_count,
        damages=summary.damages,
        damage_count=summary.damage_count,
    )


def _record_view(use: KeyUse) -> RecordView:
    return RecordView(use.partition, use.offset, use.producer_id, use.timestamp_ms)


def kafka_data_blocks(reading: DataReading) -> list[Block]:
    """Return the topics, the transactional ids, the groups, and then the breaks in order."""
    summary = reading.summary
    read = count_text(reading.partition_count, "partition")
    if reading.other_replica_count:
        read += f"; {count_text(reading.other_replica_count, 'further replica')} of them left out"
    blocks: list[Block] = [Line(f"Read {read}.")]
    for title, header, rows in (
        ("Topics", _TOPIC_HEADER, [_topic_row(one) for one in summary.topics]),
        ("Transactional ids, by their coordinator", _ID_HEADER, [_id_row(one) for one in _by_aborts(summary.ids)]),
        ("Groups, by committed offsets", _GROUP_HEADER, [_group_row(one) for one in summary.groups]),
        ("Without an end", _OPEN_HEADER, list(_open_rows(summary))),
        ("Sequences that do not follow", _BREAK_HEADER, [_break_row(one) for one in summary.breaks]),
        (
            f"Business keys that are there more than once: {summary.duplicate_key_count}",
            _DUPLICATE_HEADER,
            [_duplicate_row(one) for one in summary.duplicates],
        ),
        ("Not read", _DAMAGE_HEADER, [(one.file, str(one.position), one.kind, one.what) for one in summary.damages]),
    ):
        if rows:
            blocks += [Line(""), Line(title), Grid(tuple(rows[:SHOWN]), header)]
            if len(rows) > SHOWN:
                blocks.append(Line(f"and {len(rows) - SHOWN} more, with -o json"))
    if reading.business_key is not None:
        blocks.append(Line(""))
        if not summary.duplicate_key_count:
            blocks.append(Line("No business key is there more than once.", "green"))
        if summary.keyless_count:
            without = f"{count_text(summary.keyless_count, 'record')} without {reading.business_key}"
            blocks.append(Field("doubt", without, "yellow"))
    return blocks


_TOPIC_HEADER: Final = (
    *("TOPIC", "PARTITIONS", "RECORDS", "COMMITTED", "ABORTED", "OPEN", "ABORT-RATIO", "ABORTED-RECORDS"),
    *("MARKERS", "MARKER-BYTES", "P50", "P99", "MAX"),
)
_ID_HEADER: Final = (
    *("TRANSACTIONAL-ID", "COMMITTED", "ABORTED", "TIMED-OUT", "ABORT-RATIO", "P50", "P99", "MAX", "END-P99"),
)
_GROUP_HEADER: Final = ("GROUP", "COMMITTED", "ABORTED", "PENDING", "WITHOUT-TRANSACTION")
_OPEN_HEADER: Final = ("WHAT", "WHERE", "OFFSET", "PRODUCER", "EPOCH", "SINCE")
_BREAK_HEADER: Final = ("KIND", "PARTITION", "OFFSET", "MESSAGE")
_DUPLICATE_HEADER: Final = ("TOPIC", "KEY", "RECORDS", "FIRST", "LAST")
_DAMAGE_HEADER: Final = ("FILE", "BYTE", "KIND", "WHAT")


def _by_aborts(ids: Sequence[IdSummary]) -> list[IdSummary]:
    ended = [one for one in ids if one.committed_count or one.aborted_count]
    return sorted(ended, key=lambda one: (-one.aborted_count, -one.committed_count, one.transactional_id))


def _topic_row(one: TopicSummary) -> tuple[str, ...]:
    unknown = f" (+{one.unknown_count} unknown)" if one.unknown_count else ""
    return (
        *(one.topic, str(one.partition_count), str(one.record_count), str(one.committed_count)),
        *(str(one.aborted_count), f"{one.open_count}{unknown}", _ratio(one.abort_ratio)),
        *(str(one.aborted_record_count), str(one.marker_count)),
        f"{one.marker_share:.1%}" if one.marker_count else "",
        *_spread(one.duration),
    )


def _id_row(one: IdSummary) -> tuple[str, ...]:
    return (
        *(one.transactional_id, str(one.committed_count), str(one.aborted_count), str(one.timed_out_count)),
        *(_ratio(one.abort_ratio), *_spread(one.duration), _spread(one.ending)[1]),
    )


def _group_row(one: GroupSummary) -> tuple[str, ...]:
    counts = (one.committed_count, one.aborted_count, one.pending_count, one.plain_count)
    return (one.group, *map(str, counts))


def _open_rows(summary: DataSummary) -> Iterator[tuple[str, ...]]:
    for txn in summary.open_transactions:
        where, since = f"{txn.topic}-{txn.partition}", time_text(txn.started_ms)
        offset = str(txn.first_offset)
        yield (f"{txn.fate} in the partition", where, offset, str(txn.producer_id), str(txn.producer_epoch), since)
    for one in summary.unfinished:
        since = "" if one.started_ms is None else time_text(one.started_ms)
        offset = str(one.offset)
        what = f"{one.fate} by the coordinator"
        yield (what, one.transactional_id, offset, str(one.producer_id), str(one.producer_epoch), since)


def _break_row(one: SequenceBreak) -> tuple[str, ...]:
    return one.kind, f"{one.topic}-{one.partition}", str(one.offset), one.message


def _duplicate_row(one: DuplicateKey) -> tuple[str, ...]:
    first, last = (f"{use.topic}-{use.partition}:{use.offset}" for use in (one.first, one.last))
    return one.topic, one.key, str(one.record_count), first, last


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"


def _spread(spread: Spread) -> tuple[str, str, str]:
    if not spread.known_count:
        return "", "", ""
    return duration_text(spread.p50_ms), duration_text(spread.p99_ms), duration_text(spread.max_ms)


def render_kafka_data(reading: DataReading, now_ms: int, output: OutputFormat, style: Style) -> str:
    """Render the transactions in Kafka's files; tab-separated text has the topics."""
    view = kafka_data_view(reading, "logs data", now_ms)
    rows = (
        (one.topic, *map(str, (one.record_count, one.committed_count, one.aborted_count, one.open_count)))
        for one in view.topics
    )
    return render_one(view, output, lambda: rows, lambda: render_page(kafka_data_blocks(reading), style))
