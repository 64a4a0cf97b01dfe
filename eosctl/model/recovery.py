"""Settings, topics, and offsets during a move to another cluster."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from eosctl.model.deployment import Component, Place

LINK_SETTINGS: Final = frozenset(
    {
        *("consumer.offset.sync.enable", "acl.sync.enable", "auto.create.mirror.topics.enable"),
        *("cluster.link.prefix", "cluster.link.paused", "link.mode"),
    }
)
"""Settings that nothing but a cluster link has (Confluent, ``kafka-cluster-links --config-file``)."""


def is_link(mirror: Component) -> bool:
    """Return whether a configuration is that of a cluster link."""
    return any(name in LINK_SETTINGS for name in mirror.given)


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
