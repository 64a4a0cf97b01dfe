"""Divide logs by time, so that the parts can be judged separately, and choose the events that each part needs.

A slice owns the incidents whose latest evidence lies in its time. For the same verdict as on all logs, it also gets

- the events of a margin on both sides, which is longer than any detector looks,
- the initializations at the start of each log that lasts until the slice,
- the first record of each coordinator's election that is logged again in the slice, and
- a sample of all other events: for each program and name, the first and the last one, and those next to the margin.
  Of the lives and roles of servers, which detectors follow over any time, it has more of each.

So what a slice gets from outside of its margins grows with the number of programs and names, not with the time.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from math import inf
from typing import Final, NamedTuple, TypeAlias

from eosctl.logs.classifier.catalog import load_incidents
from eosctl.logs.incidents.joining.returns import GAP_MS, STUCK_GAP_MS
from eosctl.logs.incidents.servers.quorum import fetched_from, voter_not_reached
from eosctl.logs.incidents.timeline.announced import guessed_ids
from eosctl.logs.incidents.timeline.backoffs import LONGEST_MS
from eosctl.logs.incidents.timeline.logs import ProgramLogs
from eosctl.logs.incidents.timeline.trouble import DISCONNECTS, SUCCESSES
from eosctl.logs.incidents.timeline.unnamed import STARTED_MS, UNKNOWN_CLOCK_MS
from eosctl.model.event_names import EventCategory, EventField
from eosctl.model.log_event import LogEvent, SourceSummary
from eosctl.model.server_loggers import is_of_server

SLICE_EVENTS: Final = 300_000
"""Number of events that a slice owns if they are spread evenly; its task holds 1.2 KB for each that it gets."""
JOINED_EVENTS: Final = 1_200_000
"""Maximum number of events, margins included, of slices that are joined; so many take a worker 1.4 GB."""
BUCKET_MS: Final = 60_000
SHORTEST_MS: Final = 1_800_000
"""Minimum length of a slice: shorter ones would mostly read their margins."""

MARGIN_MS: Final = 2_400_000
"""Covers the longest pause within an incident (``GAP_MS``) and two lookups of ten minutes."""
LONG_MARGIN_MS: Final = 14_400_000
LONG_GAP_MS: Final = max(STUCK_GAP_MS, LONGEST_MS)
"""The same for categories that are an incident only if they repeat or last, for a producer that stays refused, and for
faults that a client retries with growing waits."""
_OF_STUCK: Final[frozenset[EventCategory]] = frozenset({"OUT_OF_ORDER_SEQUENCE", *SUCCESSES})
"""Categories of refused sequences, and of what ends them."""
_RETRIED: Final[frozenset[EventCategory]] = frozenset({"DISK_ERROR", "INVALID_TXN_TIMEOUT", "RECORD_TOO_LARGE"})
"""Categories of faults that other detectors follow through growing waits."""

_NODES: Final[tuple[EventField, ...]] = ("fenced_broker", "controller", "leader", "former_leader", "candidate", "role")
LIVES: Final[Mapping[EventCategory, tuple[EventField, ...]]] = {
    **dict.fromkeys(
        (
            *("BROKER_FENCED", "BROKER_ROLE", "BROKER_SIGNAL", "BROKER_SILENT", "BROKER_START", "BROKER_STOPPED"),
            *("BROKER_UNFENCED", "CONTROLLER_ACTIVE", "CONTROLLER_ELECTION", "CONTROLLER_LEADER", "CONTROLLER_LOST"),
            *("CONTROLLER_RESIGNED", "INVALID_STREAMS_CONFIG", "QUORUM_WITHOUT_LEADER"),
        ),
        _NODES,
    ),
    "OPEN_TRANSACTION": ("start_offset",),
}
"""Categories of the lives and roles of servers, and the fields by which they are apart."""
ENDLESS: Final[Mapping[EventCategory, tuple[EventField, ...]]] = {
    **dict.fromkeys(
        ("AUTHZ_CLUSTER", "AUTHZ_GROUP", "AUTHZ_OTHER", "AUTHZ_TXN_ID"), ("principal", "request", "operation", "topic")
    ),
    "READER_STUCK": ("partition", "last_stable_offset"),
}
"""Categories whose incidents have no longest pause, and the fields by which they are apart."""
_NAMES: Final[tuple[EventField, ...]] = (
    *("transactional_id", "producer_id", "group", "client_id", "rdkafka_client", "stream_client", "stream_thread"),
    *("application_id", "broker", "connector", "max_poll_interval_ms", "member_client", "transaction_timeout"),
    "transaction_timeout_ms",
)
Key: TypeAlias = tuple[str, ...]

ELECTION: Final = "election"
"""The first part of the key of a coordinator's election: only its first record counts."""
LIFE: Final = "life"
"""The first part of the key of a server's life or role."""
LASTING: Final[frozenset[EventCategory]] = frozenset({"COORDINATOR_LOAD", "INIT_PRODUCER_ID"})
"""Categories with events that slices get far from the time of the record."""
KEYED_BY_MESSAGE: Final[frozenset[EventCategory]] = frozenset(
    {"COORDINATOR_LOAD", "TRANSACTIONAL_ID_NAMED", *DISCONNECTS}
)
"""Categories whose messages decide about the keys of their events; of others, only the name of a thread counts."""
KEYED_BY_FIELDS: Final[frozenset[EventField]] = frozenset({*_NAMES, "group"})
"""Fields whose values decide about the keys of events."""
KEYED_BY_MORE_FIELDS: Final[Mapping[EventCategory, frozenset[EventField]]] = {
    **{category: frozenset(fields) for category, fields in (*ENDLESS.items(), *LIVES.items())},
    "COORDINATOR_LOAD": frozenset({"coordinator_partition", "coordinator_epoch"}),
}
"""The same for the events of some categories."""
KEYED_BY_NAMES: Final[frozenset[EventField]] = frozenset({"coordinator_partition", "controller"})
"""Fields that show by their presence that a server wrote an event."""


class TimeSlice(NamedTuple):
    """A part of the logs' time: from a moment to before another one; the outer ones may be infinite."""

    start_ms: float
    end_ms: float

    def owns(self, time_ms: float) -> bool:
        """Return whether a moment lies in the slice."""
        return self.start_ms <= time_ms < self.end_ms

    def window(self, margin_ms: int) -> tuple[float, float]:
        """Return the first and the last moment of the slice with its margins."""
        return self.start_ms - margin_ms, self.end_ms + margin_ms


WHOLE: Final = TimeSlice(-inf, inf)


def plan_slices(counts: Mapping[int, int], slice_events: int = SLICE_EVENTS) -> tuple[TimeSlice, ...]:
    """Divide the time into slices with about as many events each.

    Args:
        counts: The number of events in each period of ``BUCKET_MS``, by its number since the epoch.
        slice_events: The number of events in a slice.
    """
    if sum(counts.values()) <= slice_events:
        return (WHOLE,)
    cuts: list[float] = [-inf]
    filled, begin = 0, min(counts)
    for bucket in sorted(counts):
        if filled >= slice_events and (bucket - begin) * BUCKET_MS >= SHORTEST_MS:
            cuts.append(bucket * BUCKET_MS)
            filled, begin = 0, bucket
        filled += counts[bucket]
    return tuple(TimeSlice(start, end) for start, end in pairwise((*cuts, inf)))


@cache
def _long_categories() -> frozenset[EventCategory]:
    """Return the categories that are an incident only if they repeat or last, or that a later one depends on."""
    known = load_incidents().items()
    return (_OF_STUCK | _RETRIED).union(
        category for category, one in known if one.at_least > 1 or one.lasting_s or one.renewed_s
    )


def margin_of(category: EventCategory) -> int:
    """Return how far before and after a slice the events of a category are needed."""
    return LONG_MARGIN_MS if category in LIVES or category in _long_categories() else MARGIN_MS


def gap_of(category: EventCategory) -> int:
    """Return the longest pause between events of a category within an incident."""
    return LONG_GAP_MS if category in _long_categories() else GAP_MS


class Spans:
    """The periods that events are about: slices that a period touches get its event.

    Most are about their own moment. The load of a coordinator lasted before it. The initializations at the start of a
    log name its client if it prints no name, so they are needed until the log ends.
    """

    def __init__(self, sources: Sequence[SourceSummary]) -> None:
        logs = ProgramLogs((), sources)
        lives: dict[str, tuple[int, int]] = {}
        for one in sources:
            if one.first_ms is not None and one.last_ms is not None:
                log = logs.of_file(one.file)
                start_ms, end_ms = lives.get(log, (one.first_ms, one.last_ms))
                lives[log] = min(start_ms, one.first_ms), max(end_ms, one.last_ms)
        periods = sorted(lives.values())
        self._starts = [start_ms for start_ms, _ in periods]
        self._ends = [end_ms for _, end_ms in periods]

    def of(self, event: LogEvent) -> tuple[int, int]:
        """Return the first and the last moment that an event with a time is about."""
        time_ms = event.time_ms or 0
        if event.category == "COORDINATOR_LOAD":
            took_ms = event.fields.get("load_ms", "")
            return time_ms - (int(took_ms) if took_ms.isdecimal() else 0), time_ms
        if event.category == "INIT_PRODUCER_ID" and "coordinator_partition" in event.fields:
            first = bisect_left(self._starts, time_ms - STARTED_MS - UNKNOWN_CLOCK_MS)
            end = bisect_right(self._starts, time_ms + 2 * UNKNOWN_CLOCK_MS)
            return time_ms, max((time_ms, *self._ends[first:end]))
        return time_ms, time_ms


def keys_of(event: LogEvent, log: str) -> Iterator[Key]:
    """Yield the names of the samples that an event belongs to.

    Args:
        event: The event.
        log: The first file of its log.
    """
    is_server = is_of_server(event)
    place = log, event.application, event.host
    yield ("writer", event.file, event.application, event.host, str(is_server))
    if is_server:
        yield ("server", *place)
    # The threads of a server serve any client.
    writer = ("", "") if is_server and "group" not in event.fields else (event.thread, event.logger)
    zone = str(event.time_assumed)
    names = (event.fields.get(name, "") for name in _NAMES)
    is_guess = str(bool(guessed_ids([event])))
    of_library = str("[thrd:" in event.message)
    apart = ENDLESS.get(event.category) or LIVES.get(event.category)
    more = (event.file, *(event.fields.get(name, "") for name in apart)) if apart else ()
    is_disconnect = event.category in DISCONNECTS
    leader, voter = (fetched_from(event), voter_not_reached(event)) if is_disconnect else ("", "")
    kind = LIFE if leader or event.category in LIVES else "event"
    signs = zone, str(is_server), is_guess, of_library
    yield (kind, event.category, *place, *writer, *signs, *names, leader, voter, *more)
    if event.category == "COORDINATOR_LOAD" and "txn coordinator" in event.message:
        elected = (event.fields.get(name, "") for name in ("coordinator_partition", "coordinator_epoch"))
        yield (ELECTION, *elected)
