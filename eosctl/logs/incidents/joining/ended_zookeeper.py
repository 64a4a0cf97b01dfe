"""Join Kafka servers that do not reach ZooKeeper with a server of ZooKeeper that did not start shortly before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import absorb, with_parts
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.incident import Incident
from eosctl.text import time_text

SOON_MS: Final = 600_000
"""Maximum time from a failed start of ZooKeeper to the end of a server that waits for it."""
_ENDED: Final = "zookeeper-does-not-start"
_UNREACHED: Final = "zookeeper-not-reached"


def join_ended_zookeeper(_: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; servers without ZooKeeper are a part of the server of ZooKeeper that did not start."""
    found = tuple(incidents)
    ended = [one for one in found if one.root_cause == _ENDED]
    return absorb(found, lambda one: next((other for other in ended if _is_cause(other, one)), None), _with_effects)


def _is_cause(ended: Incident, one: Incident) -> bool:
    is_after = ended.t_start_ms <= one.t_start_ms <= ended.t_end_ms + SOON_MS
    return one.root_cause == _UNREACHED and is_after


def _with_effects(ended: Incident, parts: Sequence[Incident]) -> Incident:
    names = ", ".join(dict.fromkeys(str(one.subject.get("application", "a Kafka server")) for one in parts))
    at = time_text(min(one.t_start_ms for one in parts))
    return with_parts(ended, parts, f"Effect: {names} could not connect to ZooKeeper at {at}.")
