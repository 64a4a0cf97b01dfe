"""Detect the incidents that the catalog describes: records that call for action and that no detector explains.

Such a record is an incident of its category, about the transaction, group, partition, or program that it names. A
category that only repeats a failure of another layer (``echo``) joins the incident of the same program and time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Final

from eosctl.logs.classifier.catalog import CatalogedIncident
from eosctl.logs.files.applications import is_named_after_file
from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.programs.streams_names import StreamsNames
from eosctl.logs.incidents.remaining.attempts import EPISODE_MS, attempts_of
from eosctl.logs.incidents.remaining.lasting import REPEATED, gave_up, has_just_begun, has_lasted, in_its_log, is_fault
from eosctl.logs.incidents.remaining.observations import is_harmless, judged_by_evidence
from eosctl.logs.incidents.remaining.own_words import shown_elsewhere
from eosctl.logs.incidents.remaining.owners import OF_PARTITION, OF_PEER, OF_QUORUM, name_of, owner_of
from eosctl.logs.incidents.remaining.sentences import (
    UNEXPLAINED,
    details_of,
    filled,
    last_cause,
    role_of,
    subject_of,
)
from eosctl.logs.incidents.remaining.spans import ECHO_MS, MOMENT_MS, brief, continued, occurrence_count, spread
from eosctl.logs.incidents.timeline.evidence import evidence_of, incident
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.program_names import MADE_NAME, opening, program_of
from eosctl.logs.incidents.timeline.second_categories import category_of_cause, is_outside_kafka
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, time_of
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text

ATTEMPTS: Final = 3
"""Minimum number of failed attempts of a pipeline that show that its fault lasts."""
UNFINISHED: Final = 0.5
"""Maximum confidence in a fault that may have ended soon after its log."""
EXCERPT: Final = 0.4
"""Maximum confidence in a fault with which an excerpt ends."""
NAMED: Final = 0.8
"""Minimum confidence in a failure outside Kafka that the exception names."""
GUESS: Final = 0.75
"""Maximum confidence in a cause that the exception of its record can correct."""
_FIRST: Final = "Start with the last cause. "
_OUTSIDE: Final = "failure-outside-kafka"
_NOT_KAFKAS: Final = " That is a failure of another system, not of Kafka."
_FIX_IT: Final = (
    "Fix what the last cause names. The records of a transaction that was rolled back are processed again; a task that "
    "was killed must be restarted."
)
_FATAL: Final[EventCategory] = "CLIENT_FATAL"
_VAGUE: Final[Mapping[EventCategory, frozenset[EventCategory]]] = {
    "COORDINATOR_UNAVAILABLE": frozenset({"PEER_SILENT"}),
    # A transaction that failed is still open when the program begins the next one.
    "PRODUCER_MISUSED": frozenset({"COORDINATOR_UNAVAILABLE", "BROKERS_UNREACHED"}),
    "NOT_LEADER": frozenset({"BROKERS_UNREACHED"}),
    "TASK_CORRUPTED": frozenset({"CHANGELOG_OUT_OF_RANGE"}),
    # Of a consumer only: its program's last words have only the code.
    _FATAL: frozenset({"STATIC_MEMBER_FENCED"}),
    "COMMIT_FAILED": frozenset({"GROUP_FENCED", "STATIC_MEMBER_FENCED"}),
    "BOOTSTRAP_DISCONNECTED": frozenset({"AUTHENTICATION_FAILED", "CERTIFICATE_EXPIRED", "TLS_FAILED"}),
    "TLS_FAILED": frozenset({"CERTIFICATE_EXPIRED"}),
    "AUTHENTICATION_FAILED": frozenset({"CERTIFICATE_EXPIRED", "TLS_FAILED"}),
    "BROKERS_UNREACHED": frozenset(
        {
            *("CERTIFICATE_EXPIRED", "TLS_FAILED", "AUTHENTICATION_FAILED", "ADDRESS_MALFORMED"),
            *("TLS_EXPECTED", "TLS_NOT_EXPECTED"),
        }
    ),
}
"""Categories of records that repeat a more precise one of the same program: the reason is in its exception."""
_OF_ABSENCE: Final[frozenset[EventCategory]] = frozenset({"NOT_LEADER"})
"""Categories of what a client also meets while it reaches no broker: that is their reason, and they are not its."""
_AFTERMATH: Final[frozenset[EventCategory]] = frozenset({"RECORDS_DROPPED"})
"""Categories of what a program gives up in the end: what it reports before is not their echo, but their reason."""
_OF_MACHINE: Final = frozenset({"DEVICE_FAILED"})
"""Categories of faults of a machine, which its kernel reports."""
_OF_READERS: Final = frozenset({"HANGING_TXN_HINT"})
"""Categories of faults that a reader reports: its own transactional id is not that of the cause."""
_RETRIED: Final = "Nothing: clients repeat such requests by themselves."
_NAMES: Final = ("transactional.id", "group", "connector.task", "application.id", "client.id")
_OF_PRODUCERS: Final = ("transactional.id", "connector.task", "application.id", "client.id", "group")
"""What a sentence names, the most precise first; a producer is not its program's group."""
_PRODUCERS: Final = kinds_with("fails_transaction") | kinds_with("of_producer") | kinds_with("in_error_state")
_ROLES: Final = ("broker", "controller")


def find_cataloged(
    timeline: LogTimeline, records: Iterable[LogEvent], known: Mapping[EventCategory, CatalogedIncident]
) -> Iterator[tuple[Incident, Sequence[LogEvent]]]:
    """Yield an incident for each fault among records, with all records that it covers.

    Args:
        timeline: The logs.
        records: Records that no other incident explains; those without a time are left out.
        known: The incidents of categories, by category.
    """
    records = list(records)
    topics = _topics_by_id(records)
    named = (_with_partition(in_its_log(timeline, _by_cause(one, known)), topics) for one in records)
    timed = sorted((one for one in named if one.time_ms is not None and one.category in known), key=time_of)
    groups = by_key((owner_of(timeline, one, known[one.category]), one) for one in timed).values()
    spans = [span for events in groups for span in attempts_of(timeline, events, known[events[0].category])]
    faults: list[Sequence[LogEvent]] = [span for span in spans if is_fault(timeline, span, known[span[0].category])]
    faults.extend(spread(timeline, spans, known))
    faults.extend(continued(timeline, spans, faults, known))
    names = StreamsNames(timeline)
    # What has passed is not the cause of errors next to it.
    passed = [events for events in faults if is_harmless(timeline, known[events[0].category], events)]
    harmless = {id(events) for events in passed}
    lasting = [events for events in faults if id(events) not in harmless]
    for events in (*_joined(timeline, lasting, known), *passed):
        yield _incident(timeline, names, known[events[0].category], events), events
    for events in brief(timeline, spans, faults, known):
        own = known[events[0].category]
        note = own._replace(
            cause=own.brief_cause, what=own.brief, unfinished="", severity=Severity.INFO, next_step=_RETRIED
        )
        yield _incident(timeline, names, note, events), events


def _topics_by_id(records: Iterable[LogEvent]) -> Mapping[str, str]:
    """Return the names of topics by their ids: controllers report one election under both."""
    both = (one.fields for one in records if one.fields.get("topic_id") and one.fields.get("partition"))
    return {fields["topic_id"]: fields["partition"].rpartition("-")[0] for fields in both}


def _with_partition(event: LogEvent, topics: Mapping[str, str]) -> LogEvent:
    """Return an event with the name of its partition in place of a known topic id."""
    topic = topics.get(event.fields.get("topic_id", ""))
    if topic is None:
        return event
    fields = {name: value for name, value in event.fields.items() if name not in ("topic_id", "partition_index")}
    if index := event.fields.get("partition_index"):
        fields["partition"] = f"{topic}-{index}"
    return event._replace(fields=fields)


def _by_cause(event: LogEvent, known: Mapping[EventCategory, CatalogedIncident]) -> LogEvent:
    """Return an event under the category of its cause, if its own only repeats a failure."""
    own = known.get(event.category)
    cause = category_of_cause(event) if own is not None and own.is_echo else None
    return event._replace(category=cause) if cause is not None and cause in known else event


def _joined(
    timeline: LogTimeline, faults: Iterable[Sequence[LogEvent]], known: Mapping[EventCategory, CatalogedIncident]
) -> Iterator[Sequence[LogEvent]]:
    """Yield faults with their echoes: records of the same program and time that only repeat it."""
    faults_of_logs = _Faults()
    # Causes first; among echoes, the one with the highest weight leads. Faults without their own name are last.
    ranked = sorted(
        faults,
        key=lambda events: (
            known[events[0].category].is_echo or events[0].category in _OF_ABSENCE,
            events[0].category in _OF_ABSENCE,
            _vagueness(events[0]),
            known[events[0].category].severity.rank,
            known[events[0].category].cause == UNEXPLAINED,
            not _is_named(timeline, events[0], known[events[0].category]),
            time_of(events[0]),
        ),
    )
    alike: dict[str, set[EventCategory]] = defaultdict(set)
    for category, one in known.items():
        alike[one.kind].add(category)
    for events in ranked:
        own = known[events[0].category]
        is_client = events[0].application not in timeline.servers()
        repeats: Set[EventCategory] = frozenset()
        if is_client and own.is_echo:
            repeats = frozenset() if _names_own_cause(timeline, own, events) else known.keys() - _AFTERMATH
        elif events[0].category == _FATAL:
            is_of_consumer = judged_by_evidence(timeline, own, events)[0].kind != own.kind
            of_clients = (_FATAL,) if is_client and not _is_named(timeline, events[0], own) else ()
            repeats = frozenset(_VAGUE[_FATAL] if is_of_consumer else ()).union(of_clients)
        elif events[0].category in _VAGUE:
            unnamed = () if _is_named(timeline, events[0], own) else (events[0].category,)
            repeats = _VAGUE[events[0].category].union(unnamed)
        elif own.cause == UNEXPLAINED:
            repeats = alike[own.kind] - {events[0].category}
        elif not _is_named(timeline, events[0], own) and (is_client or name_of(timeline, events[0])):
            # A client repeats its library's record, and a coordinator its partition's, but without the name.
            repeats = {events[0].category}
        logs = {timeline.log_of(one) for one in events}
        faults_of_logs.add(events, timeline.log_of(events[0]), logs, repeats)
    yield from faults_of_logs.all


def _names_own_cause(timeline: LogTimeline, known: CatalogedIncident, events: Sequence[LogEvent]) -> bool:
    """Return whether records of an echo show their cause themselves, so that no fault next to them is needed."""
    return known.cause == UNEXPLAINED and judged_by_evidence(timeline, known, events)[0].cause != UNEXPLAINED


def _vagueness(event: LogEvent) -> int:
    return len(_VAGUE.get(event.category, ()))


def _is_named(timeline: LogTimeline, event: LogEvent, known: CatalogedIncident) -> bool:
    """Return whether an event names the subject of its category's verdict."""
    if known.what.startswith(OF_PARTITION):
        return bool(event.fields.get("partition") or event.fields.get("coordinator_partition"))
    return bool(name_of(timeline, event))


class _Faults:
    """Faults, indexed by the logs that report them, the time slots that they overlap, and by category."""

    def __init__(self) -> None:
        self.all: list[list[LogEvent]] = []
        self._spans: list[tuple[int, int]] = []
        self._at: dict[tuple[str, int, EventCategory], list[int]] = defaultdict(list)

    def add(self, events: Sequence[LogEvent], log: str, logs: Set[str], repeats: Set[EventCategory]) -> None:
        """Add records as a fault of their own, or to the first fault near them that they repeat.

        Args:
            events: Records of one category, in order of time.
            log: The log of the first one, in which they may repeat a fault.
            logs: All of their logs.
            repeats: The categories of the faults that such records may repeat.
        """
        begin, end = time_of(events[0]), time_of(events[-1])
        home = next(self._near(log, begin, end, repeats), None)
        if home is None:
            home = len(self.all)
            self.all.append([])
            self._spans.append((begin, end))
        else:
            self._spans[home] = min(begin, self._spans[home][0]), max(end, self._spans[home][1])
        self.all[home] += events
        category = self.all[home][0].category
        for part in _parts(*self._spans[home]):
            for one in logs:
                if home not in self._at[one, part, category][-1:]:
                    self._at[one, part, category].append(home)

    def _near(self, log: str, begin: int, end: int, categories: Set[EventCategory]) -> Iterator[int]:
        """Yield the faults of some categories in a log near a time, the first one first."""
        near = {
            fault
            for part in _parts(begin - ECHO_MS, end + ECHO_MS)
            for category in categories
            for fault in self._at.get((log, part, category), ())
        }
        for fault in sorted(near):
            if self._spans[fault][0] - ECHO_MS <= end and self._spans[fault][1] + ECHO_MS >= begin:
                yield fault


def _parts(begin: int, end: int) -> range:
    """Return the time slots that a span overlaps; records of one fault share a slot or have neighboring ones."""
    return range(begin // EPISODE_MS, end // EPISODE_MS + 1)


def _incident(
    timeline: LogTimeline, streams: StreamsNames, known: CatalogedIncident, events: Sequence[LogEvent]
) -> Incident:
    head = events[0]
    own = [one for one in events if one.category == head.category]
    known, observed = judged_by_evidence(timeline, known, own)
    subject = subject_of(timeline, streams, known, own)
    if head.category in _OF_READERS:
        subject = {name: value for name, value in subject.items() if name != "transactional.id"}
        subject |= {"group": group} if not subject.get("group") and (group := timeline.group_of(head)) else {}
    if head.category in _OF_MACHINE and head.host:
        subject = {name: value for name, value in subject.items() if name != "application"} | {"host": head.host}
    if head.category in OF_PEER:
        # Indexes alone do not identify partitions of several topics.
        subject = {name: value for name, value in subject.items() if name not in ("partition", "partitions")}
    if head.category in OF_QUORUM and len(nodes := _controllers_of(timeline, own)) > 1:
        subject = {name: value for name, value in subject.items() if name not in _ROLES} | {"controllers": nodes}
    server = next((f"{role} {subject[role]}" for role in _ROLES if subject.get(role)), _server_of(timeline, head))
    values = {name: value for name, value in subject.items() if isinstance(value, str)}
    actors = _OF_PRODUCERS if known.kind in _PRODUCERS else _NAMES
    names = (name for one in actors if (name := values.get(one)) and not MADE_NAME.fullmatch(name))
    producer = f"producer {subject['producerId']}" if subject.get("producerId") else ""
    named = next(filter(None, names), "")
    program = program_of(timeline, head) if subject.get("application") else ""
    who = named or program or producer or (f"a client of {server}" if known.is_of_client else server)
    values = details_of(own) | values | {"who": who, **observed, **shown_elsewhere(timeline, own)}
    values["host"] = str(subject.get("host", ""))
    values["broker-address"] = values.get("server", "")
    values["topic-or-partition"] = values.get("topic-partition") or values.get("topic", "")
    times = occurrence_count(timeline, own)
    count = f" ({times} times)" if times > 1 else ""
    is_unfinished = bool(known.unfinished) and not has_lasted(own, known)
    repeats = [] if head.category == REPEATED else [one for one in events if one.category == REPEATED]
    again = f" Its program repeated the write {count_text(len(repeats), 'time')}, and it failed." if repeats else ""
    is_doubtful = is_unfinished and len(repeats) < ATTEMPTS and not gave_up(timeline, own)
    is_excerpt = is_doubtful and has_just_begun(own, known)
    sentence = known.unfinished if is_unfinished else known.what
    what = filled(sentence, values)
    if not named and sentence.startswith("{who}"):
        what = opening(what) if program else what[0].upper() + what[1:]
    is_outside = known.cause == UNEXPLAINED and all(map(is_outside_kafka, own))
    cause = last_cause(known, own)
    is_guess = known.cause != UNEXPLAINED and known.confidence <= GUESS
    return incident(
        known.kind,
        _OUTSIDE if is_outside else known.cause,
        subject,
        events,
        f"{what}{cause}{_NOT_KAFKAS if is_outside else ''}{count}{again}",
        _FIX_IT if is_outside else f"{_FIRST if is_guess and cause else ''}{filled(known.next_step, values)}",
        severity=Severity.WARNING if is_excerpt else known.severity,
        confidence=min(
            max(known.confidence, NAMED) if is_outside else known.confidence,
            EXCERPT if is_excerpt else UNFINISHED if is_doubtful else 1,
        ),
    )._replace(evidence=evidence_of([*own, *events]))


def _controllers_of(timeline: LogTimeline, events: Sequence[LogEvent]) -> tuple[str, ...]:
    """Return the controllers that lost the leadership again and again, and those that took it from them."""
    taken = within(timeline.of("CONTROLLER_LEADER"), time_of(events[0]), time_of(events[-1]) + MOMENT_MS)
    lost = (event.fields.get("controller") or event.fields.get("broker", "") for event in events)
    return tuple(sorted({*lost, *(event.fields.get("leader", "") for event in taken)} - {""}))


def _server_of(timeline: LogTimeline, event: LogEvent) -> str:
    """Return the name of a server whose records have no node id: its own one, or its role if a file has the name."""
    if not is_named_after_file(Path(event.file.replace("\\", "/")), event.application):
        return event.application
    return f"a {role_of(timeline, event)}"
