"""Partitions of internal topics: rows for transactional ids and groups."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from eosctl.model.transaction import TopicPartition
from eosctl.render.envelope import listing
from eosctl.render.formats import OutputFormat
from eosctl.render.listing import Column, render_listing
from eosctl.render.page import Style


class LocatedItem(msgspec.Struct, frozen=True):
    """A transactional id or group, and the partition whose leader coordinates it."""

    name: str
    topic: str
    partition: int
    partition_count: int


LOCATED_COLUMNS: Final[tuple[Column[LocatedItem], ...]] = (
    Column("NAME", lambda item: item.name),
    Column("PARTITION", lambda item: f"{item.topic}-{item.partition}"),
    Column("OF", lambda item: str(item.partition_count)),
)


def render_locations(
    command: str,
    now_ms: int,
    found: Iterable[tuple[str, TopicPartition]],
    partition_count: int,
    output: OutputFormat,
    style: Style,
) -> str:
    """Render names with the partitions that coordinate them, out of `partition_count` partitions."""
    items = tuple(LocatedItem(name, home.topic, home.partition, partition_count) for name, home in found)
    return render_listing(listing("locations", command, now_ms, items), LOCATED_COLUMNS, output, style)
