"""Order log events by time, and look them up by category, period, and writer."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter, itemgetter
from typing import Final

from eosctl.logs.incidents.timeline.announced import (
    Announcements,
    announced_ids,
    guessed_ids,
    owners_of_producers,
    short_ids,
)
from eosctl.logs.incidents.timeline.clocks import on_one_clock
from eosctl.logs.incidents.timeline.index import EventIndex, Writer, grouped, within
from eosctl.logs.incidents.timeline.inits import Inits, InitsOfLogs
from eosctl.logs.incidents.timeline.logs import ProgramLogs
from eosctl.logs.incidents.timeline.names import complete_names
from eosctl.logs.incidents.timeline.roles import role_of_program
from eosctl.logs.incidents.timeline.shared_logs import separate_clients, separate_servers
from eosctl.logs.incidents.timeline.times import PLACE, time_of, timed
from eosctl.logs.incidents.timeline.writers import Writers, is_of_library
from eosctl.model.event_names import EventCategory, EventField
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent, SourceSummary
from eosctl.model.server_loggers import node_of_thread, servers_among

_APPLICATION = attrgetter("application")
_OF_SERVERS = frozenset({"BROKER_ROLE", "BROKER_START", "BROKER_SIGNAL", "COORDINATOR_LOAD", "SERVER_CONFIG"})
_LIBRARY_EXCEPTIONS = ("org.apache.kafka.", "java.", "cimpl.", "confluent_kafka.")
_OF_ANY_PRODUCER = frozenset({"OUT_OF_ORDER_SEQUENCE", "SEQUENCE_RESET", "TIMEOUT_SEND", "UNKNOWN_PRODUCER_ID"})
"""Categories of errors that producers without transactions have, too."""
SAME_MOMENT_MS = 200
"""Records about a failure: those of a client, and those of its program."""

_ALL: Final = "\0"
"""Not the name of a task: the values of a whole log."""


class LogTimeline:
    """The events of a scan in the order of time.

    A record without a timestamp (standard error, bare formats) gets the time of the last record before it in its
    file, or of the first one after it. If no record of a file has a time, it is the file's modification time.

    Built once for a scan; detectors only read it.
    """

    def __init__(self, events: Iterable[LogEvent], sources: Sequence[SourceSummary] = ()) -> None:
        named = tuple(complete_names(tuple(_separate_parts(timed(events, sources), sources))))
        known = tuple(separate_clients(tuple(separate_servers(named, sources))))
        self._logs = ProgramLogs(known, sources)
        self.log_of: Callable[[LogEvent], str] = self._logs.of
        """Returns the name of an event's log, which is a file, several files in a row, or some records of a file."""
        moved, self.sources = on_one_clock(known, sources, self._logs)
        self.has_moved = any(one.time_ms != other.time_ms for one, other in zip(known, moved, strict=True))
        """Whether clocks differ, so that some events have other times than their records."""
        known = moved
        self.events: tuple[LogEvent, ...] = tuple(sorted(known, key=PLACE))
        self._by_log: Mapping[str, list[LogEvent]] = grouped(self.events, self.log_of)
        self._by_application: Mapping[str, list[LogEvent]] = grouped(self.events, _APPLICATION)
        self._mentions: Mapping[str, list[LogEvent]] = grouped(
            (event for event in self.events if event.fields.get("transactional_id")), self.log_of
        )
        self._inits = InitsOfLogs(self.events, self.log_of)
        self._logs_of_several = {
            log
            for log, mentions in self._mentions.items()
            if len({one.fields["transactional_id"] for one in mentions}) > 1
        }
        self._writers = Writers(self.log_of, self._by_log)
        self._of_categories: dict[tuple[str, tuple[EventCategory, ...]], list[LogEvent]] = {}
        self._matching: dict[tuple[str, re.Pattern[str]], list[LogEvent]] = {}
        self._starts: dict[str, int] = {}
        self._files: dict[str, frozenset[str]] = {}
        self._first_named: dict[str, dict[str, int]] = {}
        self._groups: dict[str, str] = {}
        self._values: dict[tuple[str, EventField], Mapping[str, frozenset[str]]] = {}
        self._nodes: dict[str, str] = {}
        self._roles: dict[str, str] = {}
        self._signs: dict[str, list[int]] = {}
        self._first_ms_of_files = {source.file: source.first_ms for source in self.sources}
        self._spans = {
            (source.file, span.application, span.host): (span.first_ms, span.last_ms)
            for source in self.sources
            for span in source.programs
        }
        self._record_counts = {source.file: source.event_count for source in self.sources}
        self._sizes = {source.file: source.size_bytes for source in self.sources}
        self._last_ms_of_files = {source.file: source.last_ms for source in self.sources}
        self._sources_of: Mapping[str, list[SourceSummary]] = grouped(self.sources, lambda one: one.application)
        self._logs_of_libraries = {self.log_of(event) for event in self.events if is_of_library(event)}
        self._servers = frozenset(servers_among(self.events)).union(
            event.application
            for event in self.events
            if event.category in _OF_SERVERS and not event.fields.get("client_id")
        )
        self._index = EventIndex(self.events, self._servers, PLACE)
        self.announcements = Announcements(self.sources, self._logs.of_file)
        self._announced = announced_ids(
            self.sources,
            self._logs.of_file,
            {event.fields.get("transactional_id", "") for event in self.server_events("INIT_PRODUCER_ID")},
        )
        self._announced = {**(short := short_ids(self.sources, self._logs.of_file)), **self._announced}
        self.owners_of_producers = owners_of_producers(self.sources)
        """The program that logs each producer id at startup, if no other record names its transactional id."""
        announced = {*short.values(), *self.owners_of_producers.values()}
        named_ids = {event.fields["transactional_id"] for mentions in self._mentions.values() for event in mentions}
        self.guessed_ids = guessed_ids(self.events) | (announced - named_ids)
        self.ids_of_clients = frozenset(
            event.fields["transactional_id"]
            for event in self.events
            if event.fields.get("transactional_id") and event.application not in self._servers
        )

    @cached_property
    def by_place(self) -> Mapping[tuple[str, int], LogEvent]:
        """The events by file and offset."""
        return {(event.file, event.offset): event for event in self.events}

    def evidence(self, one: Incident) -> Sequence[LogEvent]:
        """Return the events that an incident cites."""
        places = ((place.file, place.offset) for place in one.evidence)
        return [self.by_place[place] for place in places if place in self.by_place]

    def of(self, *categories: EventCategory) -> Sequence[LogEvent]:
        """Return the events of some categories in the order of time."""
        return self._index.of(categories)

    def with_value(
        self, field: EventField, value: str, *categories: EventCategory, having: EventField | None = None
    ) -> Sequence[LogEvent]:
        """Return the events of some categories with a value in a field, and that have another field."""
        return self._index.with_value(field, value, categories, Writer.ANY, having)

    def client_events(self, *categories: EventCategory) -> Sequence[LogEvent]:
        """Return the events of some categories that applications wrote, not servers."""
        return self._index.of(categories, Writer.CLIENT)

    def server_events(self, *categories: EventCategory) -> Sequence[LogEvent]:
        """Return the events of some categories that brokers and controllers wrote."""
        return self._index.of(categories, Writer.SERVER)

    def client_events_about(
        self, transactional_id: str, *categories: EventCategory, having: EventField | None = None
    ) -> Sequence[LogEvent]:
        """Return the client events that name a transactional id themselves and have another field."""
        return self._index.with_value("transactional_id", transactional_id, categories, Writer.CLIENT, having)

    def server_events_about(
        self, transactional_id: str, *categories: EventCategory, having: EventField | None = None
    ) -> Sequence[LogEvent]:
        """Return the server events that name a transactional id themselves and have another field."""
        return self._index.with_value("transactional_id", transactional_id, categories, Writer.SERVER, having)

    def log_with(self, event: LogEvent) -> Sequence[LogEvent]:
        """Return all events of the program that wrote an event."""
        return self._by_log.get(self.log_of(event), ())

    def log_between(
        self, event: LogEvent, start_ms: float, end_ms: float, categories: tuple[EventCategory, ...] = ()
    ) -> Sequence[LogEvent]:
        """Return the events of the same program in a period, both ends included; all, or those of some categories."""
        events = self.log_with(event)
        if categories:
            key = self.log_of(event), categories
            if key not in self._of_categories:
                self._of_categories[key] = [one for one in events if one.category in categories]
            events = self._of_categories[key]
        return within(events, start_ms, end_ms)

    def log_matching(
        self, event: LogEvent, start_ms: float, end_ms: float, expression: re.Pattern[str]
    ) -> Sequence[LogEvent]:
        """Return the events of the same program in a period whose text matches; each text is searched once."""
        key = self.log_of(event), expression
        if key not in self._matching:
            self._matching[key] = [one for one in self.log_with(event) if expression.search(one.message)]
        return within(self._matching[key], start_ms, end_ms)

    def log_start_ms(self, event: LogEvent) -> int:
        """Return the time of the first record of an event's log, even if it has no category."""
        log = self.log_of(event)
        if log not in self._starts:
            events = self.log_with(event)
            starts = (self._span_in(file, event)[0] for file in self._files_of(event))
            self._starts[log] = min([time_of(events[0]), *(start for start in starts if start is not None)])
        return self._starts[log]

    def log_end_ms(self, event: LogEvent) -> int:
        """Return the time of the last record of an event's log, even if it has no category."""
        ends = (self._span_in(file, event)[1] or 0 for file in self._files_of(event))
        return max(time_of(self.log_with(event)[-1]), *ends)

    def _span_in(self, file: str, event: LogEvent) -> tuple[int | None, int | None]:
        """Return the times of the first and last record of an event's program in a file."""
        whole = self._first_ms_of_files.get(file), self._last_ms_of_files.get(file)
        if not self._logs.is_shared(file):
            return whole
        return self._spans.get((file, event.application, event.host), whole)

    def is_undated(self, event: LogEvent) -> bool:
        """Return whether no record of an event's file has a time, so that only the order of its lines is known."""
        return not self._first_ms_of_files.get(event.file)

    def bytes_after(self, event: LogEvent) -> int:
        """Return how many bytes of its file follow the beginning of a record; 0 for a compressed file."""
        return max(0, self._sizes.get(event.file, 0) - event.offset)

    def log_record_count(self, event: LogEvent) -> int:
        """Return the number of records of an event's log, even of those without a category."""
        return sum(self._record_counts.get(file, 0) for file in self._files_of(event))

    def _files_of(self, event: LogEvent) -> frozenset[str]:
        """Return the files of the program that wrote an event."""
        log = self.log_of(event)
        if log not in self._files:
            self._files[log] = frozenset(one.file for one in self.log_with(event))
        return self._files[log]

    def of_application(self, application: str) -> Sequence[LogEvent]:
        """Return the events of one application, in all of its files."""
        return self._by_application.get(application, ())

    def servers(self) -> frozenset[str]:
        """Return the applications that are brokers or controllers."""
        return self._servers

    def node_of(self, application: str) -> str:
        """Return the node id of a server that most of its own records name; empty if none does."""
        if application not in self._nodes:
            votes: dict[str, int] = defaultdict(int)
            for event in self.of_application(application):
                if node := event.fields.get("broker") or node_of_thread(event.thread):
                    votes[node] += 1
            self._nodes[application] = max(votes, key=lambda node: votes[node], default="")
        return self._nodes[application]

    def role_of(self, application: str) -> str:
        """Return whether a server is a controller or a broker, by all its records."""
        if application not in self._roles:
            self._roles[application] = role_of_program(self.of_application(application))
        return self._roles[application]

    def last_sign_before(self, application: str, time_ms: int) -> int | None:
        """Return when an application last wrote anything before a moment, as far as events and files show.

        The garbage collector's files do not count: a new process opens its own long before it logs anything else.
        """
        if application not in self._signs:
            events = [event for event in self.of_application(application) if event.category != "GC_PAUSE"]
            files = [one for one in self._sources_of.get(application, ()) if "gc-unified" not in one.layout]
            ends = [ms for one in files for ms in (one.first_ms, one.last_ms) if ms is not None]
            self._signs[application] = sorted([*map(time_of, events), *ends])
        signs = self._signs[application]
        place = bisect_left(signs, time_ms)
        return signs[place - 1] if place else None

    def transactional_id(self, event: LogEvent) -> str:
        """Return the transactional id of an event: its own, or one that its log names.

        That is the last one before it, unless its client, thread, or logger names only another one: a log may hold
        several programs. If the log names none, it is the only one at the log's beginning.
        """
        if named := event.fields.get("transactional_id"):
            return named
        mentions = self._mentions.get(self.log_of(event))
        if not mentions:
            return "" if event.application in self._servers else self._announced.get(self.log_of(event), "")
        before = bisect_right(mentions, time_of(event), key=time_of)
        last = mentions[max(before - 1, 0)]
        if before and last.category == event.category and time_of(event) - time_of(last) <= SAME_MOMENT_MS:
            return last.fields["transactional_id"]
        # A program may also have producers without an id: the error need not be that of the producer with an id, and an
        # id that is named later need not be theirs.
        others = self._inits.plain_before(event) if event.category in _OF_ANY_PRODUCER else ()
        if any(one.thread == event.thread for one in others):
            return ""
        if only := self._writers.only(event, "transactional_id"):
            return only
        is_open = bool(others) or (not before and self._inits.has_plain_before(event))
        return "" if is_open else last.fields["transactional_id"]

    def own_inits(self, event: LogEvent) -> Inits:
        """Return the initializations that an event's client logged; if several clients share a log, only its own."""
        return self._inits.of_client(event, self.transactional_id(event))

    def named_ms(self, event: LogEvent, transactional_id: str) -> int:
        """Return when the log of an event first names an id; 0 if it never does.

        For an id that only the log's beginning has, this is the log's start, not the first event about the id.
        """
        log = self.log_of(event)
        if log not in self._mentions and self._announced.get(log) == transactional_id:
            return self.log_start_ms(event)
        if log not in self._first_named:
            first: dict[str, int] = {}
            for one in self.log_with(event):
                first.setdefault(self.transactional_id(one), time_of(one))
            self._first_named[log] = first
        return self._first_named[log].get(transactional_id, 0)

    def group_of(self, event: LogEvent) -> str:
        """Return the consumer group of the client that wrote an event: named by the client, or by a coordinator.

        A coordinator derives the ids of dynamic members from their client ids.
        """
        if self._holds_several(event):
            return self._writers.only(event, "group")
        log = self.log_of(event)
        if log not in self._groups:
            self._groups[log] = self._find_group(event)
        return self._groups[log]

    def _holds_several(self, event: LogEvent) -> bool:
        """Return whether several programs may share an event's log, because each thread has its own id."""
        return self.log_of(event) in self._logs_of_several

    def _find_group(self, event: LogEvent) -> str:
        if named := self.value_in_log(event, "group"):
            return named
        clients = {
            one.fields["rdkafka_client"].rpartition("#")[0]
            for one in self.log_with(event)
            if "rdkafka_client" in one.fields
        }
        groups = {
            one.fields["group"]
            for client in clients
            for one in self.with_value("member_client", client, "REBALANCE_TRIGGER")
            if one.fields.get("group")
        }
        return groups.pop() if len(groups) == 1 else ""

    def value_in_log(self, event: LogEvent, name: EventField) -> str:
        """Return the value of a field that an event's log, its client, its thread, or the log's beginning agrees on."""
        values = self.values_in_log(event, name)
        if values:
            return next(iter(values)) if len(values) == 1 else self._writers.only(event, name)
        if name == "group" and event.fields.get("connector_task"):
            return ""
        return "" if event.application in self._servers else self.announcements.value(self.log_of(event), name)

    def values_in_log(self, event: LogEvent, name: EventField) -> frozenset[str]:
        """Return the values of a field in the events of an event's log; a worker's other tasks have their own."""
        key = self.log_of(event), name
        if key not in self._values:
            found: dict[str, set[str]] = defaultdict(set)
            for one in self.log_with(event):
                if value := one.fields.get(name):
                    found[one.fields.get("connector_task", "")].add(value)
            named = {task: frozenset(values) for task, values in found.items()}
            self._values[key] = {**named, _ALL: frozenset[str]().union(*named.values())}
        of_tasks = self._values[key]
        if task := event.fields.get("connector_task"):
            shared = of_tasks.get("", frozenset()) if name != "group" else frozenset()
            return of_tasks.get(task, frozenset()) | shared
        return of_tasks[_ALL]

    def is_of_library(self, event: LogEvent) -> bool:
        """Return whether the Java client or librdkafka wrote some events of an event's log."""
        return self.log_of(event) in self._logs_of_libraries


def speaks_protocol(timeline: LogTimeline, event: LogEvent) -> bool:
    """Return whether a client speaks the protocol itself, without the Java client or librdkafka."""
    if event.exception is not None and event.exception.class_name.startswith(_LIBRARY_EXCEPTIONS):
        return False
    return not timeline.is_of_library(event)


def _separate_parts(events: Iterable[LogEvent], sources: Sequence[SourceSummary]) -> Iterator[LogEvent]:
    """Yield events; those below a heading belong to the application that it names, unless they name another one."""
    owners = {source.file: source.application for source in sources}
    headings = {source.file: _parts_in(source.headings) for source in sources if source.headings}
    for event in events:
        found = headings.get(event.file, ())
        place = bisect_right(found, event.offset, key=itemgetter(0)) if found else 0
        name = found[place - 1][1] if place else ""
        yield event._replace(application=name) if name and event.application == owners[event.file] else event


def _parts_in(headings: str) -> Sequence[tuple[int, str]]:
    lines = (line.partition(" ") for line in headings.split("\n"))
    return [(int(offset), name) for offset, _, name in lines]
