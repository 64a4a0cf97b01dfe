"""What records say about a coordinator of groups or transactions: whether it answers, and what it answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import episodes, time_of
from eosctl.logs.incidents.timeline.trouble import DISCONNECTS
from eosctl.model.event_names import EventCategory
from eosctl.model.log_event import LogEvent
from eosctl.text import duration_text, time_text

NEAR_MS: Final = 3_600_000
"""Maximum time from a coordinator's answer to the fault that it refutes a reason of."""
LOSSES: Final = 2
LOST_MS: Final = 30_000
"""Records of a lost coordinator that are further apart are of another loss."""
BACK_MS: Final = 60_000
"""Maximum time from a loss of the coordinator until its client works with one again."""
LOADED_MS: Final = 300_000
"""Maximum time from a coordinator's load of a group to its refusal of a member that it should know."""
_REJOIN: Final = re.compile(r"Unexpected error in join group response: The group is rebalancing")
"""Error REBALANCE_IN_PROGRESS in ``JoinGroupResponseHandler`` of kafka-clients 2.7.0 and earlier."""
_OFFSETS_TOPIC: Final = "__consumer_offsets-"
_OF_COORDINATOR: Final = re.compile(r"\bTxnCoordinator/(?P<node>\d{1,10}): Broker: (?P<answer>[^:\n]{1,80})")
_ABSENT: Final = re.compile(r"(?i:not coordinator|coordinator not available|coordinator load)")
"""Answers of a broker that the transactions of the client have no coordinator, or none that is ready."""
_OF_TRANSACTIONS: Final = "Discovered transaction coordinator "
_JOINED: Final[tuple[EventCategory, ...]] = ("INIT_PRODUCER_ID", "REBALANCE_DONE")
"""Records of a client after an answer of its coordinator."""
LOADS_MS: Final = 120_000
"""Maximum time from such an answer to the end of a client's patience."""
_LOADING: Final = re.compile(r"(?i:coordinator[ _]?load[ _]?in[ _]?progress|coordinator is (?:still )?loading)")
_TIMED_OUT: Final = re.compile(r"Offset commit failed on partition [^\n]{1,300}: The request timed out")
"""The answer REQUEST_TIMED_OUT of a coordinator: it did not store the offsets in time."""
MOVED_MS: Final = 30_000
"""Time after which a client knows where a coordinator has moved to."""
_NOT_HERE: Final = re.compile(
    r"(?i:not coordinated by this broker|not[ _]coordinator\b|NotCoordinator|not the correct coordinator)"
)
"""The answer NOT_COORDINATOR, which a client takes as a reason to look for the coordinator again."""


def is_group_loaded_before(timeline: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a group coordinator that had loaded groups just before it did not know a member's id."""
    first = events[0]
    begin, end = time_of(first) - LOADED_MS, time_of(first)
    is_server = first.application in timeline.servers()
    near = (
        timeline.log_between(first, begin, end, ("COORDINATOR_LOAD",))
        if is_server
        else within(timeline.of("COORDINATOR_LOAD"), begin, end)
    )
    loads = [event for event in near if _OFFSETS_TOPIC in event.message]
    if not loads:
        return None
    node = loads[-1].fields.get("broker") or timeline.node_of(loads[-1].application)
    return {"coordinator": node or loads[-1].application, "loaded-at": time_text(time_of(loads[-1]))}


def is_answered_by_coordinator(timeline: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a transaction coordinator that answered each attempt of librdkafka's producer with an error."""
    first, last = events[0], events[-1]
    near = timeline.log_between(first, time_of(first) - NEAR_MS, time_of(last), ("COORDINATOR_UNAVAILABLE",))
    answers = [found for event in near if (found := _OF_COORDINATOR.search(event.message))]
    if all(_ABSENT.search(one["answer"]) for one in answers):
        return None
    answer = answers[-1]
    return {"coordinator": answer["node"], "answer": answer["answer"].strip(), "answers": f"{len(answers):,}"}


def is_coordinator_found(timeline: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a Java producer that found its transaction coordinator and kept its connections, but got no answer."""
    first = events[0]
    named = next(filter(None, map(timeline.transactional_id, events)), "")
    near = timeline.log_between(first, time_of(first) - NEAR_MS, time_of(first), ("COORDINATOR_DISCOVERED",))
    own = [event for event in near if timeline.transactional_id(event) == named and _OF_TRANSACTIONS in event.message]
    if not own or timeline.log_between(first, time_of(own[-1]), time_of(events[-1]), DISCONNECTS):
        return None
    node = own[-1].fields.get("coordinator_id", "")
    return {"coordinator": node, "found-at": time_text(time_of(own[-1]))} if node else None


def is_found_each_time(timeline: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a client that works with a coordinator again soon after each time that it lost one."""
    losses = list(episodes(events, LOST_MS))
    ends_ms = [time_of(one[0]) for one in losses[1:]] + [time_of(events[-1]) + BACK_MS]
    if len(losses) < LOSSES or any(time_of(one[-1]) - time_of(one[0]) >= LOST_MS for one in losses):
        return None
    back_ms = 0
    for one, end_ms in zip(losses, ends_ms, strict=True):
        own = timeline.log_between(one[-1], time_of(one[-1]), min(end_ms, time_of(one[-1]) + BACK_MS), _JOINED)
        if not own:
            return None
        back_ms = time_of(own[0])
    lasted = duration_text(time_of(events[-1]) - time_of(events[0]))
    return {"losses": str(len(losses)), "lasted": lasted, "back-at": time_text(back_ms)}


def is_commit_timed_out(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe commits that the coordinator answered with a time-out, so that it was reached."""
    return {} if all(_TIMED_OUT.search(event.message) for event in events) else None


def is_loading(timeline: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a coordinator that answered before, in the same log, that it still loads."""
    first = events[0]
    before = timeline.log_between(first, time_of(first) - LOADS_MS, time_of(first), ("COORDINATOR_UNAVAILABLE",))
    answers = [event for event in before if _LOADING.search(f"{event.message}\n{event.fields.get('thrown', '')}")]
    return {"answered-at": time_text(time_of(answers[0])), "answers": f"{len(answers):,}"} if answers else None


def is_asked_elsewhere(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe brokers that answer each time that they are not the coordinator, so that they were reached."""
    has_lasted = time_of(events[-1]) - time_of(events[0]) >= MOVED_MS
    return {} if has_lasted and all(_NOT_HERE.search(event.message) for event in events) else None


def is_asked_to_rejoin(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe consumers that end because of an answer which newer clients repeat their request after."""
    return {} if all(_REJOIN.search(event.message) for event in events) else None
