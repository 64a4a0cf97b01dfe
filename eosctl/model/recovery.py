"""What becomes of settings, topics, and offsets on the way to another cluster."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from eosctl.model.deployment import Place


class Fate(StrEnum):
    """What becomes of something on the way to the other cluster."""

    CARRIED = "carried"
    PARTLY = "partly"
    LOST = "not carried"
    WRONG = "wrong"


class Carried(NamedTuple):
    """One thing on one flow: ``remedy`` says what is left to do, ``place`` where it is set, None for a default."""

    flow: str
    what: str
    fate: Fate
    detail: str
    remedy: str
    place: Place | None = None
