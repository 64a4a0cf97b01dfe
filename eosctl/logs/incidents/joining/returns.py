"""Join a fault that returns after a pause with its first incident, if its program had no success in between.

A refused password, a missing permission, or a dead producer stays until it is changed. A program that retries it every
few minutes reports one fault, as a rule with fewer names the second time.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence, Set
from math import inf
from typing import Final

from eosctl.logs.incidents.joining.absorbing import start_of, worst_of
from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.timeline.evidence import MAX_EVIDENCE_COUNT, joined_evidence
from eosctl.logs.incidents.timeline.proofs import Proofs
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.trouble import SUCCESSES
from eosctl.logs.incidents.timeline.work import WORK, is_work
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import duration_text, time_text

GAP_MS: Final = 900_000
"""The longest pause within an incident."""
LOOP_GAP_MS: Final = 3_600_000
"""The same for faults that a program repeats in rounds of its own, which can be as long as an hour."""
STUCK_GAP_MS: Final = 5_400_000
"""The same for a producer whose sequence a partition refuses: it stays refused until it gets a new producer id."""
RUNS_GAP_MS: Final = 7 * 86_400_000
"""The same for a missing permission and a wrong setting: a program that runs once a day or a week fails each time.

Slices of logs that are too large for one task (``slicing``) report it once each.
"""
MOMENT_MS: Final = 1_000
"""Maximum time between two reports of one failure: a later one is a return of it."""
COMPARED: Final = 32
"""Maximum number of open faults of one kind and program that another one is compared with."""
_STAYS: Final = kinds_with("stays") | {"client_gave_up", "coordinator_unavailable"}
"""Kinds that do not end by themselves, and brokers or coordinators that no success shows to be back."""
_UNTIL_CHANGED: Final = kinds_with("until_changed")
"""Kinds that return at each run of a program, e.g. every night, until a person changes a setting or a permission."""
_LOOPS: Final = kinds_with("loops")
_IN_SYNC: Final[tuple[EventCategory, ...]] = (*SUCCESSES, "ISR_EXPAND")
"""Records after which partitions have enough in-sync replicas again."""
_OF_PRODUCERS: Final = kinds_with("of_producer")
_STUCK: Final = "out_of_order_sequence"
_NOT_CREATED: Final = "internal_topic_not_created"
"""It is over once a coordinator serves a group or a producer, even if nothing counts as work."""
_UNEXPLAINED: Final = "unexplained"
_DIGITS: Final = re.compile(r"\d+")
_IDENTITIES: Final = (
    *(
        "transactional.id",
        "producerId",
        "group",
        "group.instance.id",
        "principal",
        "connector.task",
        "client.id",
        "client",
    ),
    *("topic", "topic-partition", "application", "application.id", "broker", "controller", "component", "server"),
)
"""Names of subjects that two incidents about one fault cannot have with different values."""


def join_returns(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; a fault that returned without a success in between is one with its first incident."""
    yield from _joined(Proofs(timeline, incidents), incidents, _STAYS)


def join_loops(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; a fault that its program repeats in long rounds, without any work in between, is one."""
    yield from _joined(Proofs(timeline, incidents), incidents, _LOOPS)


def _joined(proofs: Proofs, incidents: Sequence[Incident], kinds: Set[str]) -> Iterator[Incident]:
    timeline = proofs.timeline
    recent: dict[tuple[str, str], deque[int]] = defaultdict(lambda: deque(maxlen=COMPARED))
    joined: dict[int, list[Incident]] = {}
    home: dict[int, int] = {}
    ordered = sorted(incidents, key=lambda one: one.t_start_ms)
    for number, one in enumerate(ordered):
        if one.kind not in kinds:
            continue
        events = timeline.evidence(one)
        logs = sorted({timeline.log_of(event) for event in events})
        near = (other for log in logs for other in reversed(recent[log, one.kind]))
        first = next((other for other in near if _returned(proofs, joined[other], one, events)), number)
        joined.setdefault(first, []).append(one)
        home[number] = first
        for log in logs:
            if first not in recent[log, one.kind]:
                recent[log, one.kind].append(first)
    for number, one in enumerate(ordered):
        if home.get(number, number) == number:
            parts = joined.get(number, ())
            yield _union(parts, _logs_successes(proofs, parts)) if len(parts) > 1 else one


def _returned(proofs: Proofs, before: Sequence[Incident], one: Incident, events: Iterable[LogEvent]) -> bool:
    """Return whether an incident is about the fault of others, which had not ended."""
    end_ms = max(part.t_end_ms for part in before)
    is_loop = one.kind in _LOOPS
    if one.t_start_ms - end_ms > _gap_ms(before, one) or not all(_is_alike(part, one) for part in before):
        return False
    if (one.kind == _STUCK or is_loop) and any(part.root_cause != one.root_cause for part in before):
        return False
    if one.root_cause == _UNEXPLAINED and not all(_has_same_words(proofs.timeline, part, one) for part in before):
        return False
    of_logs = {proofs.timeline.log_of(event): event for event in events}.values()
    return not any(_successes_in(proofs, one, event, end_ms + 1, one.t_start_ms - 1) for event in of_logs)


def _gap_ms(before: Sequence[Incident], one: Incident) -> float:
    """Return the longest pause within a fault."""
    if one.kind in _LOOPS:
        return LOOP_GAP_MS
    is_same = all(part.root_cause == one.root_cause for part in before) and one.root_cause != _UNEXPLAINED
    if one.kind in _UNTIL_CHANGED and is_same and any(_names_both(before[0], one)):
        return RUNS_GAP_MS
    return STUCK_GAP_MS if all(map(_is_stuck, (*before, one))) else GAP_MS


def _successes_in(proofs: Proofs, one: Incident, event: LogEvent, start_ms: float, end_ms: float) -> bool:
    """Return whether the program of an event logged in a period that what failed works again."""
    if one.kind == _NOT_CREATED:
        return bool(proofs.between(event, start_ms, end_ms, SUCCESSES))
    if one.kind in _LOOPS or (one.kind in _UNTIL_CHANGED and end_ms - start_ms > GAP_MS):
        works = any(map(is_work, proofs.between(event, start_ms, end_ms, WORK)))
        # A producer that gets its id lacks none of the permissions for it, but may lack that for a topic.
        done: tuple[EventCategory, ...] = ("INIT_PRODUCER_ID",) if one.kind in _OF_PRODUCERS else ()
        return works or bool(done and proofs.between(event, start_ms, end_ms, done))
    wanted = _IN_SYNC if one.kind == "not_enough_replicas" else SUCCESSES
    return bool(proofs.between(event, start_ms, end_ms, wanted))


def _logs_successes(proofs: Proofs, parts: Iterable[Incident]) -> bool:
    """Return whether a log of a fault has any record of a success: a program that logs none may have had some."""
    return any(_successes_in(proofs, one, event, -inf, inf) for one in parts for event in proofs.timeline.evidence(one))


def _has_same_words(timeline: LogTimeline, one: Incident, other: Incident) -> bool:
    """Return whether two incidents without a known cause have the same last cause in their exceptions."""
    mine, others = ({thrown(event) for event in timeline.evidence(of)} - {""} for of in (one, other))
    return not (mine and others) or not mine.isdisjoint(others)


def thrown(event: LogEvent) -> str:
    """Return the last cause that an event names, with all digits alike."""
    return _DIGITS.sub("0", event.fields.get("thrown", ""))


def _is_stuck(one: Incident) -> bool:
    """Return whether an incident is about one producer that a partition refuses: it does not recover by itself."""
    return one.kind == _STUCK and bool(one.subject.get("producerId") and one.subject.get("topic-partition"))


def _is_alike(one: Incident, other: Incident) -> bool:
    return all(_names_both(one, other))


def _names_both(one: Incident, other: Incident) -> Iterator[bool]:
    """Yield, for each name that the subjects of two incidents have, whether it has the same value."""
    pairs = ((one.subject.get(name), other.subject.get(name)) for name in _IDENTITIES)
    return (left == right for left, right in pairs if left and right)


def _union(parts: Sequence[Incident], logs_successes: bool) -> Incident:
    """Return one incident for a fault and its returns; the most certain of them names the cause.

    Args:
        parts: The fault and its returns.
        logs_successes: Whether a success between them would be known.
    """
    head = max(parts, key=lambda one: (one.confidence, len(one.subject), -one.t_start_ms))
    share = max(1, MAX_EVIDENCE_COUNT // len(parts))
    end_ms = max(one.t_end_ms for one in parts)
    without = ", and no success is logged in between" if logs_successes else ""
    lasted_ms = end_ms - start_of(parts)
    lasted = f" It lasted for {duration_text(lasted_ms)}." if lasted_ms > GAP_MS else ""
    is_return = max(one.t_start_ms for one in parts) - parts[0].t_end_ms > MOMENT_MS
    again = f" The fault returned until {time_text(end_ms)}{without}." if is_return else ""
    return head._replace(
        severity=worst_of(parts),
        subject={name: value for one in (*parts, head) for name, value in one.subject.items() if value},
        t_start_ms=start_of(parts),
        t_end_ms=end_ms,
        evidence=joined_evidence(
            head.evidence[:share], *(one.evidence[:share] for one in parts), *(one.evidence for one in parts)
        ),
        explanation=f"{head.explanation}{again}{lasted}",
    )
