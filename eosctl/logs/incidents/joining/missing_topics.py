"""Fold clients that wait for a coordinator into the internal topic that cannot be created.

The first client creates ``__transaction_state`` or ``__consumer_offsets``. If the cluster has fewer brokers than the
replicas that it needs, each attempt fails in the log of a server, and the client only reports a timeout.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import MAX_EVIDENCE_COUNT
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.incident import Incident
from eosctl.text import time_text

LATE_MS: Final = 300_000
"""Maximum time from an attempt to create the topic until a client gives up waiting for it."""
BEFORE_MS: Final = 60_000
"""Maximum time from a client's start to the first attempt; a throwable without a time has that of the record before."""
_NOT_CREATED: Final = "internal_topic_not_created"
_NOT_REACHED: Final = "brokers-not-reached"
_GROUPS: Final = frozenset({"client_gave_up", "consumer_offsets_timeout", "coordinator_unavailable"})
_TRANSACTIONS: Final = frozenset(
    {"client_gave_up", "coordinator_unavailable", "init_producer_id_timeout", "requests_timed_out"}
)
_WAITING: Final[Mapping[str, frozenset[str]]] = {"__consumer_offsets": _GROUPS, "__transaction_state": _TRANSACTIONS}
"""Kinds of faults of clients that need the coordinator, by the topic that the coordinator needs."""


def join_missing_topics(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; clients that wait for a coordinator are a part of the missing topic of its log."""
    missing = [one for one in incidents if one.kind == _NOT_CREATED and one.subject.get("topic") in _WAITING]
    waiting: dict[int, list[Incident]] = defaultdict(list)
    absorbed: set[int] = set()
    for one in incidents if missing else ():
        home = next((cause for cause in missing if _waits_for(timeline, one, cause)), None)
        if home is not None:
            waiting[id(home)].append(one)
            absorbed.add(id(one))
    for one in incidents:
        if id(one) not in absorbed:
            yield _with_clients(one, waiting[id(one)]) if id(one) in waiting else one


def _waits_for(timeline: LogTimeline, one: Incident, cause: Incident) -> bool:
    """Return whether a client that reached its brokers waited while the topic could not be created."""
    if one.kind not in _WAITING[str(cause.subject["topic"])] or one.root_cause == _NOT_REACHED:
        return False
    servers = timeline.servers()
    if any(event.application in servers for event in timeline.evidence(one)):
        return False
    return one.t_start_ms <= cause.t_end_ms + LATE_MS and one.t_end_ms >= cause.t_start_ms - BEFORE_MS


def _with_clients(cause: Incident, waiting: Sequence[Incident]) -> Incident:
    places = dict.fromkeys(place for one in (cause, *waiting) for place in one.evidence)
    ids = sorted({str(name) for one in waiting if (name := one.subject.get("transactional.id"))})
    who = ", ".join(ids[:3]) or "the client"
    named: Mapping[str, str | tuple[str, ...]] = {"transactional.ids": tuple(ids)} if len(ids) > 1 else {}
    if len(ids) == 1:
        named = {"transactional.id": ids[0]}
    at = time_text(max(one.t_end_ms for one in waiting))
    return cause._replace(
        subject={**cause.subject, **named},
        t_start_ms=min(one.t_start_ms for one in (cause, *waiting)),
        t_end_ms=max(one.t_end_ms for one in (cause, *waiting)),
        evidence=tuple(places)[:MAX_EVIDENCE_COUNT],
        explanation=f"{cause.explanation} Effect ({waiting[0].kind}): {who} waited for the coordinator, and gave up at "
        f"{at}.",
    )
