"""Name the tasks of Connect that could not store their offsets while a fault of the cluster lasted.

Such a record is an echo of the cluster's fault (``remaining/unexplained.py``), so it makes no incident of its own. The
owner of a connector needs to know which one was affected, and until when.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.explained import AFTER_MS, BEFORE_MS, EXPLANATIONS
from eosctl.logs.incidents.joining.absorbing import effect, with_records
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import episodes, time_of
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import count_text, name_some, time_text

LISTED: Final = 40
"""Maximum number of tasks that a subject names."""
_OF_CLUSTER: Final = frozenset(rule.cause for rule in EXPLANATIONS if not rule.same_subject)
_NOT_STORED: Final[EventCategory] = "CONNECT_OFFSETS_NOT_FLUSHED"
_KIND: Final = "connector_offsets_not_stored"
MOMENT_MS: Final = 1_000
"""Maximum time between the records of one failed attempt."""
_QUOTED: Final = 4


def name_affected_tasks(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; those of the cluster with the tasks of Connect whose offsets were not stored meanwhile."""
    noted = {(place.file, place.offset) for one in incidents for place in one.evidence}
    for one in incidents:
        failed = _failed_in(timeline, one, noted) if one.kind in _OF_CLUSTER else ()
        noted |= {(event.file, event.offset) for event in failed}
        yield _with_tasks(one, failed) if failed else one


def _failed_in(timeline: LogTimeline, one: Incident, noted: set[tuple[str, int]]) -> Sequence[LogEvent]:
    """Return the failed attempts to store offsets during an incident that no other one reports."""
    near = within(timeline.client_events(_NOT_STORED), one.t_start_ms - BEFORE_MS, one.t_end_ms + AFTER_MS)
    return [event for event in near if (event.file, event.offset) not in noted]


def _with_tasks(one: Incident, failed: Sequence[LogEvent]) -> Incident:
    tasks = tuple(dict.fromkeys(task for event in failed if (task := event.fields.get("connector_task"))))
    attempts = list(episodes(failed, MOMENT_MS))
    who = name_some("connector task", tasks) if tasks else "a connector task"
    since, until = time_text(time_of(attempts[0][0])), time_text(time_of(attempts[-1][0]))
    when = f"at {since}" if len(attempts) == 1 else f"{count_text(len(attempts), 'time')} from {since} to {until}"
    text = effect(_KIND, f"{who} could not store offsets {when}: a restart before they are stored sends records again.")
    named: dict[str, str | tuple[str, ...]] = {"connector.task": tasks[0]} if len(tasks) == 1 else {}
    if len(tasks) > 1:
        named = {"connector.tasks": tasks[:LISTED]}
    shown = [event for attempt in (attempts[0], attempts[-1]) for event in attempt[:1]][:_QUOTED]
    return with_records(one, shown, text)._replace(subject={**one.subject, **named})
