"""Where names live: rows for transactional ids and groups."""

from __future__ import annotations

from typing import Final

import msgspec

from eosctl.render.listing import Column


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
