"""Transactions as rows: what ``eosctl txn`` lists."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from eosctl.findings.bootstrap import own_bootstrap_of
from eosctl.model.hang import HangVerdict
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import TopicPartition
from eosctl.model.transaction_life import JudgedTransaction
from eosctl.render.envelope import listing
from eosctl.render.formats import OutputFormat
from eosctl.render.listing import Column, render_listing
from eosctl.render.page import Style
from eosctl.text import duration_text


class PartitionItem(msgspec.Struct, frozen=True):
    """A partition of a transaction."""

    topic: str
    partition: int


class TransactionItem(msgspec.Struct, frozen=True):
    """A transactional id as its coordinator describes it; ``status`` and so on are empty when nothing is open."""

    transactional_id: str
    coordinator_id: int
    producer_id: int
    producer_epoch: int
    state: str
    timeout_ms: int
    start_time_ms: int | None
    age_ms: int | None
    partitions: tuple[PartitionItem, ...]
    status: str
    cause: str
    explanation: str


class HangItem(msgspec.Struct, frozen=True):
    """A transaction that is open on a partition leader, with the verdict on it and what it holds up.

    `age_ms` is the time since its start, null if no coordinator knows it; `idle_ms` the time since its newest record.
    `broker_id` and `first_offset` are -1 if no leader shows it as open.
    """

    topic: str
    partition: int
    broker_id: int
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    first_offset: int
    transactional_id: str | None
    coordinator_id: int | None
    coordinator_state: str
    coordinator_producer_epoch: int | None
    status: str
    cause: str
    confidence: str
    explanation: str
    age_ms: int | None
    idle_ms: int | None
    coordinator_acts_at_ms: int | None
    last_stable_offset: int | None
    high_watermark: int | None
    invisible_offsets: int | None
    invisible_records: int | None
    pins_last_stable_offset: bool
    blocks_compaction: bool
    blocks_offset_commits: bool
    groups: tuple[str, ...]
    can_abort: bool
    abort_refusal: str
    can_complete: bool


def transaction_item(judged: JudgedTransaction) -> TransactionItem:
    """Shape a transaction with the verdict on it."""
    transaction, verdict = judged
    return TransactionItem(
        transactional_id=transaction.transactional_id,
        coordinator_id=transaction.coordinator_id,
        producer_id=transaction.producer_id,
        producer_epoch=transaction.producer_epoch,
        state=transaction.state,
        timeout_ms=transaction.timeout_ms,
        start_time_ms=transaction.start_time_ms,
        age_ms=judged.age_ms,
        partitions=tuple(PartitionItem(p.topic, p.partition) for p in transaction.partitions),
        status="" if verdict is None else verdict.status.value,
        cause="" if verdict is None else verdict.cause.value,
        explanation="" if verdict is None else verdict.explanation,
    )


def hang_items(verdicts: Iterable[HangVerdict], captured_at_ms: int) -> tuple[HangItem, ...]:
    """Shape verdicts; the groups of a partition, which all its open transactions hold up, are named once."""
    named: dict[TopicPartition, tuple[str, ...]] = {}
    items = []
    for verdict in verdicts:
        radius = verdict.blast_radius
        if radius is not None and radius.partition not in named:
            named[radius.partition] = tuple(group.group_id for group in radius.groups)
        groups = () if radius is None else named[radius.partition]
        items.append(_hang_item(verdict, groups, captured_at_ms))
    return tuple(items)


def _hang_item(verdict: HangVerdict, groups: tuple[str, ...], captured_at_ms: int) -> HangItem:
    transaction, radius = verdict.transaction, verdict.blast_radius
    return HangItem(
        topic=transaction.partition.topic,
        partition=transaction.partition.partition,
        broker_id=transaction.broker_id,
        producer_id=transaction.producer_id,
        producer_epoch=transaction.producer_epoch,
        coordinator_epoch=transaction.coordinator_epoch,
        first_offset=transaction.first_offset,
        transactional_id=transaction.transactional_id,
        coordinator_id=transaction.coordinator_id,
        coordinator_state=transaction.coordinator_state,
        coordinator_producer_epoch=transaction.coordinator_producer_epoch,
        status=verdict.status.value,
        cause=verdict.cause.value,
        confidence=verdict.confidence.value,
        explanation=verdict.explanation,
        age_ms=transaction.age_ms,
        idle_ms=transaction.idle_ms(captured_at_ms),
        coordinator_acts_at_ms=verdict.coordinator_acts_at_ms,
        last_stable_offset=None if radius is None else radius.last_stable_offset,
        high_watermark=None if radius is None else radius.high_watermark,
        invisible_offsets=None if radius is None else radius.invisible_offsets,
        invisible_records=None if radius is None else radius.invisible_records,
        pins_last_stable_offset=radius is not None and radius.pins_last_stable_offset,
        blocks_compaction=radius is not None and radius.blocks_compaction,
        blocks_offset_commits=radius is not None and radius.blocks_offset_commits,
        groups=groups,
        can_abort=verdict.can_abort,
        abort_refusal=verdict.abort_refusal,
        can_complete=verdict.can_complete,
    )


def age_text(age_ms: int | None, idle_ms: int | None = None) -> str:
    """Return how long a transaction has been open; ``> 5 min`` if only its newest record is known."""
    if age_ms is not None:
        return duration_text(age_ms)
    return "-" if idle_ms is None else f"> {duration_text(idle_ms)}"


def _number(number: int | None) -> str:
    return "-" if number is None or number < 0 else str(number)


TRANSACTION_COLUMNS: Final[tuple[Column[TransactionItem], ...]] = (
    Column("TRANSACTIONAL-ID", lambda item: item.transactional_id),
    Column("STATE", lambda item: item.state),
    Column("AGE", lambda item: age_text(item.age_ms)),
    Column("PRODUCER-ID", lambda item: str(item.producer_id)),
    Column("EPOCH", lambda item: str(item.producer_epoch)),
    Column("COORDINATOR", lambda item: str(item.coordinator_id)),
    Column("TIMEOUT-MS", lambda item: str(item.timeout_ms)),
    Column("STATUS", lambda item: item.status or "-"),
    Column("PARTITIONS", lambda item: ",".join(f"{p.topic}-{p.partition}" for p in item.partitions) or "-", wide=True),
    Column("EXPLANATION", lambda item: item.explanation or "-", wide=True),
)

HANG_COLUMNS: Final[tuple[Column[HangItem], ...]] = (
    Column("PARTITION", lambda item: f"{item.topic}-{item.partition}"),
    Column("STATUS", lambda item: item.status),
    Column("CAUSE", lambda item: item.cause),
    Column("PRODUCER-ID", lambda item: str(item.producer_id)),
    Column("EPOCH", lambda item: str(item.producer_epoch)),
    Column("SINCE-OFFSET", lambda item: _number(item.first_offset)),
    Column("INVISIBLE-OFFSETS", lambda item: _number(item.invisible_offsets)),
    Column("TRANSACTIONAL-ID", lambda item: item.transactional_id or "-"),
    Column("COORDINATOR-STATE", lambda item: item.coordinator_state or "-"),
    Column("CAN-ABORT", lambda item: "yes" if item.can_abort else "no"),
    Column("CAN-COMPLETE", lambda item: "yes" if item.can_complete else "no", wide=True),
    Column("LEADER", lambda item: _number(item.broker_id), wide=True),
    Column("COORDINATOR-EPOCH", lambda item: _number(item.coordinator_epoch), wide=True),
    Column("LSO", lambda item: _number(item.last_stable_offset), wide=True),
    Column("HIGH-WATERMARK", lambda item: _number(item.high_watermark), wide=True),
    Column("AGE", lambda item: age_text(item.age_ms, item.idle_ms), wide=True),
    Column("GROUPS", lambda item: ",".join(item.groups) or "-", wide=True),
    Column("EXPLANATION", lambda item: item.explanation, wide=True),
)


#: A hanging transaction is open on a partition, and its coordinator has completed it or does not know it.
_SCOPE: Final = "Only coordinators were asked; one that hangs on a partition may be in none: eosctl txn hanging -b"


def render_transactions(
    snapshot: ClusterSnapshot, found: Iterable[JudgedTransaction], now_ms: int, output: OutputFormat, style: Style
) -> str:
    """Render a list of transactions with the evidence that it comes from."""
    items = tuple(map(transaction_item, found))
    result = listing("transactions", "txn list", now_ms, items, snapshot)
    scope = f"{_SCOPE} {own_bootstrap_of(snapshot)}"
    return render_listing(result, TRANSACTION_COLUMNS, output, style, empty="No transactions.", scope=scope)
