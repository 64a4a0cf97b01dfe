"""The producers of partitions as their leaders know them, each with the transactional id behind it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction_life import KnownProducer
from eosctl.render.envelope import listing
from eosctl.render.formats import OutputFormat
from eosctl.render.listing import Column, number_cell, render_listing
from eosctl.render.page import Style
from eosctl.text import time_text


class ProducerRow(msgspec.Struct, frozen=True):
    """One producer on one partition.

    ``last_timestamp_ms`` is the newest batch's: the client's clock, unless the topic has LogAppendTime.
    ``transactional_id`` is None for idempotent producers, and where no coordinator listed an id with this producer id.
    """

    topic: str
    partition: int
    broker_id: int
    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp_ms: int
    coordinator_epoch: int
    open_since_offset: int | None
    transactional_id: str | None
    coordinator_state: str
    coordinator_producer_epoch: int | None


def _row(known: KnownProducer) -> ProducerRow:
    where, state, owner = known
    return ProducerRow(
        topic=where.partition.topic,
        partition=where.partition.partition,
        broker_id=where.broker_id,
        producer_id=state.producer_id,
        producer_epoch=state.producer_epoch,
        last_sequence=state.last_sequence,
        last_timestamp_ms=state.last_timestamp_ms,
        coordinator_epoch=state.coordinator_epoch,
        open_since_offset=state.current_txn_start_offset,
        transactional_id=None if owner is None else owner.transactional_id,
        coordinator_state="" if owner is None else owner.state,
        coordinator_producer_epoch=owner.producer_epoch if owner is not None and owner.described else None,
    )


PRODUCER_COLUMNS: Final[tuple[Column[ProducerRow], ...]] = (
    Column("PARTITION", lambda row: f"{row.topic}-{row.partition}"),
    Column("PRODUCER-ID", lambda row: str(row.producer_id)),
    Column("EPOCH", lambda row: str(row.producer_epoch)),
    Column("OPEN-SINCE-OFFSET", lambda row: number_cell(row.open_since_offset)),
    Column("TRANSACTIONAL-ID", lambda row: row.transactional_id or "-"),
    Column("COORDINATOR-STATE", lambda row: row.coordinator_state or "-"),
    Column("LAST-TIMESTAMP", lambda row: "-" if row.last_timestamp_ms < 0 else time_text(row.last_timestamp_ms)),
    Column("LAST-SEQUENCE", lambda row: str(row.last_sequence), wide=True),
    Column("COORDINATOR-EPOCH", lambda row: str(row.coordinator_epoch), wide=True),
    Column("ID-EPOCH", lambda row: number_cell(row.coordinator_producer_epoch), wide=True),
    Column("LEADER", lambda row: str(row.broker_id), wide=True),
)


def render_producers(
    snapshot: ClusterSnapshot, producers: Iterable[KnownProducer], now_ms: int, output: OutputFormat, style: Style
) -> str:
    """Render a list of producers with the evidence that it comes from."""
    result = listing("producers", "txn producers", now_ms, tuple(map(_row, producers)), snapshot)
    return render_listing(result, PRODUCER_COLUMNS, output, style, empty="No producers.")
