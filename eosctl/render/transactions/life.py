"""One transactional id: its present state, the producers on its partitions, and its last steps in the log."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from eosctl.model.history import TransactionLogEntry
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction_life import KnownProducer, TransactionLife
from eosctl.render.envelope import listing
from eosctl.render.formats import OutputFormat
from eosctl.render.listing import Column, render_listing
from eosctl.render.page import PLAIN, Block, Field, Grid, Line, Style, render_page
from eosctl.render.transactions.listing import PartitionItem, TransactionItem, transaction_item
from eosctl.text import duration_text, time_text


class ProducerItem(msgspec.Struct, frozen=True):
    """What the leader of a partition knows of the producer id."""

    topic: str
    partition: int
    broker_id: int
    producer_epoch: int
    last_sequence: int
    coordinator_epoch: int
    open_since_offset: int | None


class StepItem(msgspec.Struct, frozen=True):
    """One record of the transaction log; ``state`` is empty when the id expired. Times are the coordinator's clock."""

    log_partition: int
    offset: int
    coordinator_epoch: int
    written_at_ms: int
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    start_time_ms: int | None
    partitions: tuple[PartitionItem, ...]
    client_transaction_version: int


class LifeItem(msgspec.Struct, frozen=True):
    """A transactional id with everything that is known of it; ``history`` is oldest first."""

    transaction: TransactionItem
    log_partition: int | None
    producers: tuple[ProducerItem, ...]
    history: tuple[StepItem, ...]


def life_item(life: TransactionLife) -> LifeItem:
    """Shape everything that is known of one id."""
    return LifeItem(
        transaction=transaction_item(life.judged),
        log_partition=life.log_partition,
        producers=tuple(map(_producer_item, life.producers)),
        history=tuple(map(_step_item, life.steps)),
    )


def _producer_item(known: KnownProducer) -> ProducerItem:
    where, state, _ = known
    return ProducerItem(
        topic=where.partition.topic,
        partition=where.partition.partition,
        broker_id=where.broker_id,
        producer_epoch=state.producer_epoch,
        last_sequence=state.last_sequence,
        coordinator_epoch=state.coordinator_epoch,
        open_since_offset=state.current_txn_start_offset,
    )


def _step_item(entry: TransactionLogEntry) -> StepItem:
    return StepItem(
        log_partition=entry.log_partition,
        offset=entry.offset,
        coordinator_epoch=entry.coordinator_epoch,
        written_at_ms=entry.written_at_ms,
        state=entry.state,
        producer_id=entry.producer_id,
        producer_epoch=entry.producer_epoch,
        timeout_ms=entry.timeout_ms,
        start_time_ms=entry.start_time_ms,
        partitions=tuple(PartitionItem(p.topic, p.partition) for p in entry.partitions),
        client_transaction_version=entry.client_transaction_version,
    )


def render_lives(
    snapshot: ClusterSnapshot, lives: Iterable[TransactionLife], now_ms: int, output: OutputFormat, style: Style = PLAIN
) -> str:
    """Render ids: for people one block each, else as a list."""
    items = tuple(map(life_item, lives))
    if output not in (OutputFormat.TABLE, OutputFormat.WIDE):
        return render_listing(listing("transaction-lives", "txn describe", now_ms, items, snapshot), _COLUMNS, output)
    blocks: list[Block] = []
    for item in items:
        if blocks:
            blocks.append(Line(""))
        blocks += _blocks(item)
    return render_page(blocks, style)


def _blocks(item: LifeItem) -> list[Block]:
    transaction = item.transaction
    age = "" if transaction.age_ms is None else f", open for {duration_text(transaction.age_ms)}"
    home = "" if item.log_partition is None else f", __transaction_state-{item.log_partition}"
    blocks: list[Block] = [
        Line(f"{transaction.transactional_id}  {transaction.state}{age}", "bold"),
        Field("producer", f"id {transaction.producer_id}, epoch {transaction.producer_epoch}"),
        Field("coord.", f"broker {transaction.coordinator_id}{home}"),
        Field("timeout", f"{transaction.timeout_ms} ms"),
    ]
    if transaction.partitions:
        names = ", ".join(f"{p.topic}-{p.partition}" for p in transaction.partitions)
        blocks.append(Field("partitions", f" {names}"))
    if transaction.explanation:
        blocks.append(Field("verdict", f"{transaction.status}: {transaction.explanation}"))
    if item.producers:
        blocks.append(Grid(tuple(_producer_row(p) for p in item.producers), _PRODUCER_HEADER, indent=2))
    if item.history:
        blocks.append(Grid(tuple(_history_row(entry) for entry in item.history), _HISTORY_HEADER, indent=2))
    return blocks


_COLUMNS: Final = (
    Column[LifeItem]("TRANSACTIONAL-ID", lambda life: life.transaction.transactional_id),
    Column[LifeItem]("STATE", lambda life: life.transaction.state),
    Column[LifeItem]("PRODUCER-ID", lambda life: str(life.transaction.producer_id)),
    Column[LifeItem]("EPOCH", lambda life: str(life.transaction.producer_epoch)),
)
_PRODUCER_HEADER = ("PARTITION", "LEADER", "EPOCH", "LAST-SEQUENCE", "COORDINATOR-EPOCH", "OPEN-SINCE-OFFSET")
_HISTORY_HEADER = ("TIME", "OFFSET", "STATE", "PRODUCER-ID", "EPOCH", "PARTITIONS")


def _producer_row(item: ProducerItem) -> tuple[str, ...]:
    since = "-" if item.open_since_offset is None else str(item.open_since_offset)
    return (
        f"{item.topic}-{item.partition}",
        str(item.broker_id),
        str(item.producer_epoch),
        str(item.last_sequence),
        str(item.coordinator_epoch),
        since,
    )


def _history_row(entry: StepItem) -> tuple[str, ...]:
    return (
        time_text(entry.written_at_ms),
        str(entry.offset),
        entry.state or "(expired)",
        str(entry.producer_id) if entry.state else "-",
        str(entry.producer_epoch) if entry.state else "-",
        ", ".join(f"{p.topic}-{p.partition}" for p in entry.partitions) or "-",
    )
