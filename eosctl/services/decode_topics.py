"""Rows of the internal topics: transactions, offsets, and metadata."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from eosctl.analysis.decode.entries import metadata_row, offsets_row, transaction_row
from eosctl.analysis.decode.outcomes import Outcome
from eosctl.text import duration_text
from eosctl.wire.records.header import BatchHeader
from eosctl.wire.records.record import Record

Row = dict[str, Any]
RowOf: TypeAlias = Callable[[Record, BatchHeader, Outcome], Row | None]


def transaction_rows(
    transactional_id: str | None = None, producer_ids: frozenset[int] = frozenset(), *, timed: bool = False
) -> RowOf:
    """Return what decodes the wanted records of ``__transaction_state``.

    Args:
        transactional_id: The wanted id; None for all.
        producer_ids: The wanted producer ids; empty for all.
        timed: Whether each row says how long the state before lasted.
    """
    previous: list[Row] = []

    def row(record: Record, header: BatchHeader, outcome: Outcome) -> Row | None:
        found = transaction_row(record, header)
        if transactional_id is not None and found["transactional_id"] != transactional_id:
            return None
        if producer_ids and found.get("producer_id") not in producer_ids:
            return None
        if not timed:
            return found
        after = duration_text(max(found["timestamp"] - previous[-1]["timestamp"], 0)) if previous else ""
        previous[:] = [found]
        return {**found, "after": after}

    return row


def offset_rows(group: str | None = None) -> RowOf:
    """Return what decodes the records of ``__consumer_offsets``, of one group or of all."""

    def row(record: Record, header: BatchHeader, outcome: Outcome) -> Row | None:
        found = offsets_row(record, header, outcome)
        return found if group is None or found["group"] == group else None

    return row


def metadata_rows(types: frozenset[str] = frozenset()) -> RowOf:
    """Return what decodes the records of the metadata log, of some types or of all."""

    def row(record: Record, header: BatchHeader, outcome: Outcome) -> Row | None:
        found = metadata_row(record)
        return found if not types or found["record"] in types else None

    return row
