"""Detect members whose session expired as their own client reports, and count how often it happened.

The Java client and kafka-python search for their coordinator again, and learn with their next request that they are
removed. librdkafka gives its partitions up itself, and names the coordinator's last answer
(``rd_kafka_cgrp_session_timeout_check``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from eosctl.logs.incidents.timeline.evidence import incident, place_text, short_text
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.pauses import SLACK_MS
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import PLACE, by_key, episodes, time_of
from eosctl.model.event_names import EventCategory, EventField
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text, duration_text, time_text

RESUMED_MS: Final = 600_000
"""Maximum time from the end of a session to a refusal, to the next refusal, or to an attempt to join."""
BURST_MS: Final = 30_000
"""Maximum time between the records of one session's end."""
AGAIN_MS: Final = 3_600_000
"""A member whose sessions end again within an hour has one fault."""
CONTINUES_MS: Final = 10_000
STAYS_MS: Final = 60_000
"""Minimum time of refusals, without an attempt to join, of a member that does not rejoin by itself."""
CONTINUES: Final = 2
STAYS: Final = 5
"""The same as numbers of refusals, where records have no time."""
_SILENT: Final = re.compile(r"[Hh]eartbeat session expired|\bsession timed out\b")
"""A client's words about a session in which no heartbeat was answered."""
_GIVES_UP: Final = "SESSION_TIMED_OUT"
"""The record of a client that gives its partitions up itself."""
_SIGNS: Final[tuple[EventCategory, ...]] = ("COORDINATOR_UNAVAILABLE", _GIVES_UP)
_JOINED: Final[tuple[EventCategory, ...]] = ("REBALANCE_DONE", "ASSIGNMENT_CHANGE")
_JOINING: Final = re.compile(r"(?i:\(re-\)joining group|\bjoining group|\bJoinGroup\b)")
_TAKEN: Final = re.compile(r"(?i:revok|\blost\b|unassign)|Finished assignment")
"""Records of partitions that a member gives up, or that a leader assigns before the group has them."""
_OF_REBALANCE: Final = re.compile(r"[Rr]ebalance in progress|REBALANCE_IN_PROGRESS")
_OF_NETWORK: Final = re.compile(r"Local: (?:Broker transport|Timed out|All broker|Host resolution)|Disconnected")
_COMMIT: Final = "ommit"


class _End(NamedTuple):
    """The end of one session: its records, the refusals after it, and the record with which the member was back."""

    signs: Sequence[LogEvent]
    refused: Sequence[LogEvent]
    joined: LogEvent | None

    @property
    def is_removal(self) -> bool:
        """Whether the member was out of its group."""
        return bool(self.refused) or any(event.category == _GIVES_UP for event in self.signs)


def find_silent_members(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the members whose session ended as their client reports, and that were refused or gave up by themselves."""
    signs = [event for event in timeline.client_events(*_SIGNS) if _SILENT.search(event.message)]
    for own in by_key((_client_of(timeline, one), one) for one in signs).values():
        ends = list(_ends(timeline, own))
        counted = [one for place, one in enumerate(ends) if one.is_removal or (place and one.joined)]
        current: list[_End] = []
        for end in counted:
            if current and time_of(end.signs[0]) - time_of(current[-1].signs[-1]) > AGAIN_MS:
                yield from _judged(timeline, current)
                current = []
            if current or end.is_removal:
                current.append(end)
        yield from _judged(timeline, current)


def _client_of(timeline: LogTimeline, event: LogEvent) -> str:
    return f"{timeline.log_of(event)}\0{event.fields.get('client_id') or event.fields.get('rdkafka_client', '')}"


def _ends(timeline: LogTimeline, signs: Sequence[LogEvent]) -> Iterator[_End]:
    """Yield the ends of a client's sessions, each with the refusals until the next one."""
    spans = list(episodes(signs, BURST_MS))
    all_refused = timeline.log_between(
        signs[0], time_of(signs[0]) - SLACK_MS, timeline.log_end_ms(signs[0]), ("GROUP_FENCED", "COMMIT_FAILED")
    )
    own = [event for event in all_refused if any(is_of_member(sign, event) for sign in signs)]
    for place, span in enumerate(spans):
        # Clients report the two in either order.
        next_ms = time_of(spans[place + 1][0]) - SLACK_MS if place + 1 < len(spans) else timeline.log_end_ms(signs[0])
        after = within(own, time_of(span[0]) - SLACK_MS, next_ms)
        bursts = episodes([span[-1], *(one for one in after if time_of(one) > time_of(span[-1]))], RESUMED_MS)
        lasting = next(iter(bursts), [])[1:]
        refused = [*(one for one in after if time_of(one) <= time_of(span[-1])), *lasting]
        since = refused[0] if refused else span[0]
        yield _End(span, refused, _joined(timeline, span[-1], since, next_ms))


def _joined(timeline: LogTimeline, sign: LogEvent, since: LogEvent, end_ms: int) -> LogEvent | None:
    """Return the first record after another one, up to a time, with which a member is in its group again."""
    found = timeline.log_between(sign, time_of(since), end_ms, _JOINED)
    own = (one for one in found if PLACE(one) > PLACE(since) and is_of_member(sign, one))
    return next((one for one in own if not _TAKEN.search(one.message)), None)


def is_of_member(sign: LogEvent, other: LogEvent) -> bool:
    """Return whether a record may be of the same client: one of them names none, or both name the same."""
    names: tuple[EventField, ...] = ("client_id", "group", "rdkafka_client")
    pairs = [(sign.fields.get(name), other.fields.get(name)) for name in names]
    return all(mine == theirs for mine, theirs in pairs if mine and theirs)


def _judged(timeline: LogTimeline, ends: Sequence[_End]) -> Iterator[Incident]:
    """Yield an incident of the ends of a client's sessions, unless another detector knows why they ended."""
    own = [one for one in ends if not _polled_late(timeline, one) and not _is_removed(timeline, one)]
    if own and own[0].is_removal:
        yield _incident(timeline, own)


def _polled_late(timeline: LogTimeline, end: _End) -> bool:
    last = [*end.signs, *end.refused[:1]][-1]
    return bool(timeline.log_between(last, time_of(last) - RESUMED_MS, time_of(last), ("POLL_TIMEOUT",)))


def _is_removed(timeline: LogTimeline, end: _End) -> bool:
    """Return whether a coordinator's log has the removal of a member that was refused: another detector judges that."""
    if not end.refused:
        return False
    group, moment = timeline.group_of(end.refused[0]), time_of(end.refused[0])
    removals = [one for one in timeline.server_events("MEMBER_EVICTED") if one.fields.get("group") == group]
    return bool(within(removals, moment - RESUMED_MS, moment + SLACK_MS))


def _incident(timeline: LogTimeline, ends: Sequence[_End]) -> Incident:
    first, last = ends[0], ends[-1]
    lead = first.refused[0] if first.refused else first.signs[0]
    group = timeline.group_of(lead) or timeline.group_of(first.signs[0])
    gave_up = next((one for one in first.signs if one.category == _GIVES_UP), None)
    end = [*last.signs, *last.refused][-1]
    last_ms = time_of(end)
    is_out = last.joined is None and bool(last.refused) and _continues(timeline, last, CONTINUES_MS, CONTINUES)
    joining = _joining_after(timeline, end) if is_out else None
    # A member that rejoined before, or that tries to, does so by itself.
    is_stuck = is_out and not joining and not any(one.joined for one in ends)
    is_stuck = is_stuck and _continues(timeline, last, STAYS_MS, STAYS)
    cause, meaning, step = _cause_of(group, gave_up)
    # The outcome of a single removal is that of any fault of a member; see ``outcomes``.
    has_own_course = gave_up is not None or len(ends) > 1
    slow = _slow_step(timeline, first.signs[0]) if gave_up is None else None
    if gave_up is None:
        meaning += _reason_of(slow)
    text = f"{meaning}{_effect_of(first, gave_up)}{_course_of(ends) if has_own_course else ''}"
    back = [one.joined for one in ends if one.joined is not None] if has_own_course else []
    is_back = not is_out and has_own_course and (gave_up is not None or all(one.joined for one in ends))
    if is_out:
        text += f" It was still refused {_moment(timeline, end)}: it had not rejoined."
    if joining:
        text += f" It began to join again {_moment(timeline, joining)}, and no later record shows that it has."
    return incident(
        "member_evicted",
        cause,
        {
            "group": group,
            "application": lead.application,
            "client": gave_up.fields.get("rdkafka_client", "") if gave_up else "",
            "coordinator": gave_up.fields.get("coordinator_id", "") if gave_up else "",
        },
        [*([slow] if slow else []), *(event for end in ends for event in (*end.signs, *end.refused)), *back],
        text,
        step + (" Restart the program: it does not rejoin by itself." if is_stuck else ""),
        # A client that gives up by itself joins again by itself.
        severity=Severity.WARNING if is_back else Severity.ERROR,
        confidence=0.8,
        t_start_ms=min(map(time_of, (*first.signs, *first.refused))),
        t_end_ms=last_ms,
    )


def _continues(timeline: LogTimeline, end: _End, least_ms: int, least: int) -> bool:
    """Return whether refusals continue after the end of a session; without times, their number shows it."""
    if timeline.is_undated(end.signs[0]):
        return len(end.refused) >= least
    return time_of([*end.signs, *end.refused][-1]) - time_of(end.signs[0]) >= least_ms


def _moment(timeline: LogTimeline, event: LogEvent) -> str:
    """Return the time of an event, or its place in a file without times."""
    return f"in {place_text(event)}" if timeline.is_undated(event) else f"at {time_text(time_of(event))}"


def _joining_after(timeline: LogTimeline, end: LogEvent) -> LogEvent | None:
    """Return the last record with which the client of a refusal begins to join its group after it."""
    later = timeline.log_between(end, time_of(end), time_of(end) + RESUMED_MS, ("REBALANCE_TRIGGER",))
    own = [one for one in later if PLACE(one) > PLACE(end) and is_of_member(end, one)]
    return next((one for one in reversed(own) if _JOINING.search(one.message)), None)


def _cause_of(group: str, gave_up: LogEvent | None) -> tuple[str, str, str]:
    """Return the cause of a session's end, what it means, and what to do."""
    who = f"A member of {group or 'its group'}"
    if gave_up is None:
        return (
            "heartbeats-missed",
            (
                f"{who} had no answer to its heartbeats within its session timeout, as its client reports. The "
                "coordinator removed it from the group."
            ),
            (
                "Find what stopped the process or its network before that: a long call in the thread that sends "
                "heartbeats, its garbage collector's log, a stopped container, CPU throttling. If the process ran, "
                "read the log of the coordinator's broker of this time: its load, its pauses, and the removal."
            ),
        )
    took = f" for {duration_text(int(waited))}" if (waited := gave_up.fields.get("took_ms")) else ""
    broker = f" (broker {node})" if (node := gave_up.fields.get("coordinator_id")) else ""
    timed_out = (
        f"The session of a member of {group or 'its group'} timed out in its client: it had no successful response "
        f"from the group's coordinator{broker}{took}"
    )
    answer = gave_up.fields.get("reason", "")
    if _OF_REBALANCE.search(answer):
        return (
            "rebalance-beyond-session-timeout",
            f"{timed_out}, and the last answer was that the group rebalances. The coordinator did answer.",
            (
                "Find which member held the rebalance up: one that works on its records for long joins late. Shorten "
                "the work between two polls, or raise session.timeout.ms above the longest rebalance. Use a recent "
                "release of librdkafka."
            ),
        )
    if _OF_NETWORK.search(answer):
        return (
            "coordinator-not-reached",
            f'{timed_out}; its last error was "{answer}".',
            (
                "Check that the coordinator runs and that the client reaches it. Then compare session.timeout.ms with "
                "the longest interruption."
            ),
        )
    return (
        "heartbeats-missed",
        f"{timed_out}. Its last response named no error, so the log does not show why none followed.",
        (
            "Find what stopped the process or its network before that: a stopped container, CPU throttling, a slow "
            "coordinator. Compare session.timeout.ms with it."
        ),
    )


def _slow_step(timeline: LogTimeline, sign: LogEvent) -> LogEvent | None:
    """Return the last record of long work of the same program shortly before the end of a session."""
    found = timeline.log_between(sign, time_of(sign) - BURST_MS, time_of(sign), ("SLOW_STEP", "THREAD_BLOCKED"))
    return next((one for one in reversed(found) if PLACE(one) < PLACE(sign)), None)


def _reason_of(slow: LogEvent | None) -> str:
    """Return what the log shows about the reason for missing answers."""
    if slow is None:
        return " The log does not show whether the client stood still, or the coordinator or the network was slow."
    return f' Most likely, its heartbeats stopped during this work: "{short_text(slow.message)}" ({place_text(slow)}).'


def _effect_of(end: _End, gave_up: LogEvent | None) -> str:
    committed = any(_COMMIT in one.message for one in end.refused)
    if gave_up is None:
        text = " Its commits were refused, so its records since the last one are processed again."
        return text if committed else ""
    refused = " Its commit was refused." if committed else ""
    return f" It gave its partitions up.{refused} Its records since the last commit are processed again."


def _course_of(ends: Sequence[_End]) -> str:
    """Return when a member was back, how often its session ended again, and when last."""
    if len(ends) < 2:
        return _back_at(ends[0])
    often = f"{count_text(len(ends) - 1, 'time')}, last " if len(ends) > 2 else ""
    again = f" Its session expired again {often}at {time_text(time_of(ends[-1].signs[0]))}."
    return f"{_back_at(ends[0])}{again}{_back_at(ends[-1])}"


def _back_at(end: _End) -> str:
    return f" It rejoined at {time_text(time_of(end.joined))}." if end.joined is not None else ""
