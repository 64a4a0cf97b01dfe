"""Join a fault with its report by the other side: the broker that refuses a login, the JobManager of a failed task.

Both log the same moment, the other side without the names of the client: no transactional id, group, or task. Only a
single fault of that kind at that moment can be the same one, and only if both name the same thing, or the other side
cannot name any.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import absorb, with_parts
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.incident import Incident

MOMENT_MS: Final = 2_000
"""Maximum time between the two reports: clocks of hosts differ by less as a rule."""
_LOGIN: Final = "authentication_failed"
_CHECKSUM: Final = "checksum-wrong-on-arrival"
_OF_INSTANCES: Final = frozenset({"duplicate-group-instance-id", "member-id-not-the-coordinators"})
"""Causes of refused static members: the coordinator logs the group.instance.id only, and the client the group only."""
_NAMES: Final = ("transactional.id", "group", "client.id", "connector.task", "producerId", "principal")
_SHARED: Final = ("group.instance.id", "topic-partition", "topic")
"""What both sides can name."""
_OWN: Final = (*_NAMES, *_SHARED)
"""What the client's report names: a broker that refuses a batch may name less."""
_OF_JOBS: Final = ("org.apache.flink.runtime.executiongraph.", "org.apache.flink.runtime.jobmaster.", "o.a.f.r.e.")


def join_two_sides(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; the report of the other side is a part of the fault of the client that names itself."""
    named: dict[tuple[str, str], list[Incident]] = defaultdict(list)
    for one in incidents:
        if not _is_other_side(timeline, one) and any(one.subject.get(name) for name in _OWN):
            named[one.kind, one.root_cause].append(one)

    def home_of(one: Incident) -> Incident | None:
        if not named or not _is_other_side(timeline, one):
            return None
        near = [other for other in named[one.kind, one.root_cause] if _is_of_moment(one, other) and _agree(one, other)]
        return near[0] if len(near) == 1 else None

    return absorb(incidents, home_of, _whole)


def _is_other_side(timeline: LogTimeline, one: Incident) -> bool:
    """Return whether only brokers report a refusal, or only a JobManager reports a fault of a task."""
    if any(one.subject.get(name) for name in _NAMES):
        return False
    events = timeline.evidence(one)
    servers = timeline.servers()
    is_of_servers = all(event.application in servers for event in events)
    return bool(events) and (is_of_servers or all(event.logger.startswith(_OF_JOBS) for event in events))


def _agree(one: Incident, other: Incident) -> bool:
    """Return whether two reports name nothing different, and the same thing if servers can name it at all."""
    pairs = [
        (mine, theirs) for name in _SHARED if (mine := one.subject.get(name)) and (theirs := other.subject.get(name))
    ]
    is_nameless = one.kind == _LOGIN or one.root_cause == _CHECKSUM or bool(one.subject.get("application"))
    can_name = not is_nameless and one.root_cause not in _OF_INSTANCES
    return all(mine == theirs for mine, theirs in pairs) and (bool(pairs) or not can_name)


def _is_of_moment(one: Incident, other: Incident) -> bool:
    is_at_start = abs(one.t_start_ms - other.t_start_ms) <= MOMENT_MS
    return is_at_start and abs(one.t_end_ms - other.t_end_ms) <= MOMENT_MS


def _whole(one: Incident, parts: Sequence[Incident]) -> Incident:
    subject = {**{name: value for part in parts for name, value in part.subject.items() if name in ("broker", "host")}}
    return with_parts(one, parts, subject={**subject, **one.subject})
