"""Fold what follows from a fault into its incident: consequences of other kinds, and records without a cause.

A program reports one fault several times. A member that left its group learns so at its next commit, minutes later. A
pipeline gives up records after brokers refused them. A driver reports that it ends, in words that another record of
the same failure quotes. Each is a part of the first incident, if it follows it in the same program and names nothing
else.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from eosctl.logs.incidents.joining.absorbing import effect, gathered, with_parts, worst_of
from eosctl.logs.incidents.joining.follows import AFTER_MS, FOLLOWS, IN_ERROR, NOT_FLUSHED, OWN_CAUSES, Follows
from eosctl.logs.incidents.remaining.lasting import is_final
from eosctl.logs.incidents.remaining.unexplained import ECHOES, is_unknown_error
from eosctl.logs.incidents.timeline.evidence import places_of
from eosctl.logs.incidents.timeline.index import Intervals
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.event_names import EventField
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import time_text

BEFORE_MS: Final = 5_000
MOMENT_MS: Final = 1_000
"""Maximum time from a client's error to the record in which its program reports the call that failed."""


_NAMES: Final[tuple[tuple[EventField, str], ...]] = (
    ("transactional_id", "transactional.id"),
    ("group", "group"),
    ("partition", "topic-partition"),
    ("topic", "topic"),
    ("connector_task", "connector.task"),
    ("component", "component"),
    ("client_id", "client.id"),
    ("producer_id", "producerId"),
)
_PRODUCER_OF_TASK: Final = "connector-producer-"
"""The beginning of the client.id that Connect gives the producer of a source task."""
_OF_STREAMS: Final = ("transactional.id", "client.id", "group")
"""Names that begin with the application id in an application of Kafka Streams."""
_IDENTITIES: Final = frozenset({"transactional.id", "producerId"})
"""Names that belong to one producer: a record with the same one is about the same fault."""
_LABELS: Final = re.compile(r"\[[^\]\n]*\]|\([^)\n]*\)")
"""What loggers put before each message of a thread or a client."""
_SHARED_WORDS: Final = 5
_SHARED_CHARACTERS: Final = 24
_COMPARED_CHARACTERS: Final = 600
_WORD: Final = re.compile(r"[A-Za-z]{2,}")


def fold_consequences(timeline: LogTimeline, incidents: Sequence[Incident]) -> tuple[Incident, ...]:
    """Return incidents; those that follow from another one of the same program have become a part of it."""
    causes = _Causes(timeline, incidents)
    said: dict[int, Follows] = {}

    def home_of(one: Incident) -> Incident | None:
        for follows in FOLLOWS.get(one.kind, ()) if one.root_cause not in OWN_CAUSES else ():
            before = causes.before(one, follows)
            cause = next((other for other in before if _may_follow(timeline, one, other, follows)), None)
            if cause is not None:
                said[id(one)] = follows
                return cause
        return None

    ordered = sorted(incidents, key=lambda one: one.t_start_ms)
    return tuple(
        _with_all(one, [(part, said[id(part)]) for part in parts]) for one, parts in gathered(ordered, home_of)
    )


def fold_records(
    timeline: LogTimeline, incidents: Sequence[Incident], left: Iterable[LogEvent]
) -> tuple[Incident, ...]:
    """Return incidents with the records that no detector judged and that report the same fault of the same program.

    Such a record is an echo of the same producer, or an error without a category in the words of the incident.

    Args:
        timeline: The logs.
        incidents: The incidents.
        left: Records that no incident explains.
    """
    known = timeline.by_place
    causes = _Causes(timeline, incidents)
    noted = {(place.file, place.offset) for one in incidents for place in one.evidence}
    more: dict[int, list[LogEvent]] = defaultdict(list)
    for event in left:
        place = event.file, event.offset
        if place in noted or place not in known or event.application in timeline.servers():
            continue
        near = causes.near(event)
        if is_unknown_error(event):
            home = next((one for one in near if _quotes(timeline, one, event)), None)
        elif event.category in ECHOES:
            home = next((one for one in near if _is_of_same_producer(timeline, one, event)), None)
        else:
            home = None
        if home is None and is_final(event):
            home = next((one for one in near if _is_of_its_moment(timeline, one, event)), None)
        if home is not None:
            more[id(home)].append(event)
    return tuple(_with_records(one, more.get(id(one), ())) for one in incidents)


class _Causes:
    """The incidents that clients reported, by their logs."""

    def __init__(self, timeline: LogTimeline, incidents: Iterable[Incident]) -> None:
        self._timeline = timeline
        self._of: dict[int, frozenset[str]] = {}
        spans: dict[str, list[tuple[float, float, Incident]]] = defaultdict(list)
        of_kinds: dict[tuple[str, str], list[tuple[float, float, Incident]]] = defaultdict(list)
        for one in incidents:
            self._of[id(one)] = logs = self._logs_of(one)
            if one.severity is not Severity.INFO:
                for log in logs:
                    spans[log].append((one.t_start_ms, one.t_end_ms, one))
                    of_kinds[log, one.kind].append((one.t_start_ms, one.t_end_ms, one))
        self._spans = {log: Intervals(found) for log, found in spans.items()}
        self._of_kinds = {key: Intervals(found) for key, found in of_kinds.items()}

    def before(self, one: Incident, follows: Follows) -> Iterator[Incident]:
        """Yield the causes in the same programs that began before one and may still last, the latest of a log first."""
        start_ms, end_ms = one.t_start_ms - follows.within_ms, one.t_start_ms + BEFORE_MS
        for log in sorted(self._of[id(one)]):
            found = [self._of_kinds[log, kind] for kind in sorted(follows.causes) if (log, kind) in self._of_kinds]
            near = (other for spans in found for other in spans.touching(start_ms, end_ms) if other is not one)
            yield from sorted(near, key=lambda other: -other.t_start_ms)

    def near(self, event: LogEvent) -> list[Incident]:
        """Return the incidents of an event's program at its time."""
        spans = self._spans.get(self._timeline.log_of(event))
        moment = time_of(event)
        return spans.touching(moment - AFTER_MS, moment + BEFORE_MS) if spans else []

    def _logs_of(self, one: Incident) -> frozenset[str]:
        servers = self._timeline.servers()
        events = self._timeline.evidence(one)
        return frozenset(self._timeline.log_of(event) for event in events if event.application not in servers)


def _may_follow(timeline: LogTimeline, one: Incident, cause: Incident, follows: Follows) -> bool:
    """Return whether an incident may follow from another one: they name nothing different, and it was not over."""
    if not all(_agree(one.subject.get(name), cause.subject.get(name)) for _, name in _NAMES):
        return False
    if not (_share_servers(one, cause) and _is_of_same_application(one, cause)):
        return False
    if one.confidence > follows.at_most:
        return False
    if follows.roots and (one.subject.get("offset") or one.root_cause not in follows.roots):
        return False
    own = [event for event in timeline.evidence(one) if event.application not in timeline.servers()]
    if follows is NOT_FLUSHED and not _is_of_task(timeline, one, cause):
        return False
    if follows is IN_ERROR and any(cause.subject.get(name) and not one.subject.get(name) for name in _IDENTITIES):
        return False
    if follows.text is not None and not all(_has_text(event, follows.text) for event in own):
        return False
    if not own or not follows.over:
        return bool(own)
    first = min(own, key=time_of)
    ends = timeline.log_between(first, cause.t_end_ms + 1, time_of(first), follows.over)
    return not any(_agree(end.fields.get("client_id"), first.fields.get("client_id")) for end in ends)


def _share_servers(one: Incident, cause: Incident) -> bool:
    """Return whether two incidents name a common server, or one of them names none."""
    mine, others = ({*_listed(of, "server"), *_listed(of, "servers")} for of in (one, cause))
    return not (mine and others) or not mine.isdisjoint(others)


def _is_of_task(timeline: LogTimeline, one: Incident, cause: Incident) -> bool:
    """Return whether a cause names the task of a connector, or the producer that Connect gives it."""
    task = one.subject.get("connector.task", "")
    names = {(event.fields.get("connector_task"), event.fields.get("client_id")) for event in timeline.evidence(cause)}
    return bool(task) and any(task == of or client == f"{_PRODUCER_OF_TASK}{task}" for of, client in names)


def _is_of_same_application(one: Incident, cause: Incident) -> bool:
    """Return whether the producer of a cause may be one of a Streams application: its ids begin with the name."""
    owner = str(one.subject.get("application.id", ""))
    ids = [str(cause.subject[name]) for name in ("application.id", *_OF_STREAMS) if cause.subject.get(name)]
    return not (owner and ids) or any(name.startswith(owner) for name in ids)


def _listed(one: Incident, name: str) -> tuple[str, ...]:
    value = one.subject.get(name, ())
    return (value,) if isinstance(value, str) else value


def _has_text(event: LogEvent, text: re.Pattern[str]) -> bool:
    return any(text.search(part) for part in (event.message, event.fields.get("thrown", "")))


def _agree(mine: object, other: object) -> bool:
    """Return whether two names are the same, or one of them is missing."""
    return not (mine and other) or mine == other


def _is_of_same_producer(timeline: LogTimeline, one: Incident, event: LogEvent) -> bool:
    """Return whether an echo names the producer of an incident, and nothing that differs from its subject."""
    named = {name: value for field, name in _NAMES if (value := event.fields.get(field))}
    if not named.get("transactional.id"):
        named["transactional.id"] = timeline.transactional_id(event)
    if any(not _agree(value, one.subject.get(name)) for name, value in named.items()):
        return False
    return any(named.get(name) and named.get(name) == one.subject.get(name) for name in _IDENTITIES)


def _is_of_its_moment(timeline: LogTimeline, one: Incident, event: LogEvent) -> bool:
    """Return whether a program reports that its operation failed just after its client reported an incident's fault."""
    named = {name: value for field, name in _NAMES if (value := event.fields.get(field))}
    if any(not _agree(value, one.subject.get(name)) for name, value in named.items()):
        return False
    log = timeline.log_of(event)
    own = (other for other in timeline.evidence(one) if timeline.log_of(other) == log)
    return any(0 <= time_of(event) - time_of(other) <= MOMENT_MS for other in own)


def _quotes(timeline: LogTimeline, one: Incident, event: LogEvent) -> bool:
    """Return whether a record of an incident has a clause of an error's message, so that both report one failure."""
    own = _clauses(event.message)
    texts = {
        _clauses(text)
        for other in timeline.evidence(one)
        if abs(time_of(other) - time_of(event)) <= AFTER_MS
        for text in (other.message, other.fields.get("thrown", ""))
    }
    return any(_share_clause(own, text) for text in texts if text)


def _clauses(message: str) -> str:
    return " ".join(_LABELS.sub(" ", message)[:_COMPARED_CHARACTERS].split())


def _share_clause(mine: str, other: str) -> bool:
    """Return whether two messages share enough words in a row to be about one failure.

    >>> _share_clause("Task 0 in stage 0.0 failed 4 times; aborting", "Job aborted: Task 0 in stage 0.0 failed 4 times")
    True
    >>> _share_clause("Failed to send the record to orders", "Failed to send the record of payments")
    False
    """
    match = SequenceMatcher(None, mine, other, autojunk=False).find_longest_match()
    shared = mine[match.a : match.a + match.size]
    if match.size < _SHARED_CHARACTERS or len(_WORD.findall(shared)) < _SHARED_WORDS:
        return False
    return match.size * 2 > min(len(mine), len(other)) or any(sign.isdigit() for sign in shared)


def _with_all(cause: Incident, folded: Sequence[tuple[Incident, Follows]]) -> Incident:
    """Return an incident with its consequences, one sentence for each kind."""
    for kind, sentence in dict.fromkeys((one.kind, follows.sentence) for one, follows in folded):
        own = [one for one, follows in folded if (one.kind, follows.sentence) == (kind, sentence)]
        subject = dict(cause.subject)
        for name, value in own[0].subject.items():
            if name not in ("application", "offset"):
                subject.setdefault(name, value)
        at = time_text(min(one.t_start_ms for one in own))
        advice = next((follows.next_step for _, follows in folded if follows.sentence == sentence), "")
        is_said = f"Effect: {sentence.partition(' at {')[0]}" in cause.explanation
        texts = () if is_said else (effect(kind, sentence.format(at=at)),)
        cause = with_parts(cause, own, *texts, subject=subject)._replace(
            severity=worst_of((cause, *own)), next_step=advice or cause.next_step
        )
    return cause


def _with_records(one: Incident, events: Sequence[LogEvent]) -> Incident:
    """Return an incident with further records as evidence."""
    if not events:
        return one
    return one._replace(
        t_start_ms=min(one.t_start_ms, *map(time_of, events)),
        t_end_ms=max(one.t_end_ms, *map(time_of, events)),
        evidence=tuple(dict.fromkeys((*one.evidence, *places_of(events)))),
    )
