"""Settings, topics, and offsets during a move to another cluster."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from eosctl.model.deployment import Place


class Fate(StrEnum):
    """The outcome of an item during the move."""

    CARRIED = "carried"
    PARTLY = "partly"
    LOST = "not carried"
    WRONG = "wrong"


class Carried(NamedTuple):
    """An item of a flow: `remedy` is what is left to do, `place` where it is set, None for a default."""

    flow: str
    what: str
    fate: Fate
    detail: str
    remedy: str
    place: Place | None = None
