"""Divide logs by time, so that the parts can be judged separately, and choose the events that each part needs.

A slice owns the incidents whose latest evidence lies in its time. For the same verdict as on all logs, it also gets

- the events of a margin on both sides, which is longer than any detector looks,
- all events about the lives and roles of servers, which detectors follow over any time,
- the first record of each coordinator's election that is logged again in the slice, and
- a sample of all other events: for each program and name, the first and the last one, and those next to the margin.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from math import inf
from typing import Final, NamedTuple, TypeAlias

from eosctl.logs.classifier.catalog import load_incidents
from eosctl.logs.incidents.announced import guessed_ids
from eosctl.logs.incidents.quorum import fetched_from, voter_not_reached
from eosctl.logs.incidents.trouble import DISCONNECTS
from eosctl.logs.incidents.unnamed import STARTED_MS, UNKNOWN_CLOCK_MS
from eosctl.model.event_names import EventCategory, EventField
from eosctl.model.log_event import LogEvent, SourceSummary
from eosctl.model.server_loggers import is_of_server

SLICE_EVENTS: Final = 300_000
"""Number of events that a slice owns if they are spread evenly; its task holds about 3 KB for each of them."""
BUCKET_MS: Final = 60_000
SHORTEST_MS: Final = 1_800_000
"""Minimum length of a slice: shorter ones would mostly read their margins."""

MARGIN_MS: Final = 2_400_000
GAP_MS: Final = 900_000
"""The longest pause within an incident; the margin covers it and two lookups of ten minutes."""
LONG_MARGIN_MS: Final = 14_400_000
LONG_GAP_MS: Final = 3_600_000
"""The same for categories that are an incident only if they repeat or last."""

LIVES: Final[frozenset[EventCategory]] = frozenset(
    {
        *("BROKER_FENCED", "BROKER_ROLE", "BROKER_SIGNAL", "BROKER_SILENT", "BROKER_START", "BROKER_STOPPED"),
        *("BROKER_UNFENCED", "CONTROLLER_ACTIVE", "CONTROLLER_ELECTION", "CONTROLLER_LEADER", "CONTROLLER_LOST"),
        *("CONTROLLER_RESIGNED", "CONNECT_FENCING", "INVALID_STREAMS_CONFIG"),
        *("OPEN_TRANSACTION", "SERVER_CONFIG"),
    }
)
"""Categories that every slice gets as a whole."""
ENDLESS: Final[Mapping[EventCategory, tuple[EventField, ...]]] = {
    **dict.fromkeys(
        ("AUTHZ_CLUSTER", "AUTHZ_GROUP", "AUTHZ_OTHER", "AUTHZ_TXN_ID"), ("principal", "request", "operation", "topic")
    ),
    "READER_STUCK": ("partition", "last_stable_offset"),
}
"""Categories whose incidents have no longest pause, and the fields by which they are apart."""
_NAMES: Final[tuple[EventField, ...]] = (
    *("transactional_id", "producer_id", "group", "client_id", "rdkafka_client", "stream_client", "stream_thread"),
    *("application_id", "broker", "connector", "max_poll_interval_ms", "member_client"),
)
Key: TypeAlias = tuple[str, ...]

ELECTION: Final = "election"
"""The first part of the key of a coordinator's election: only its first record counts."""
SOMETIMES_WHOLE: Final[frozenset[EventCategory]] = frozenset({"COORDINATOR_LOAD", "INIT_PRODUCER_ID", *DISCONNECTS})
"""Categories with events that every slice gets."""
KEYED_BY_MESSAGE: Final[frozenset[EventCategory]] = frozenset(
    {"COORDINATOR_LOAD", "TRANSACTIONAL_ID_NAMED", *DISCONNECTS}
)
"""Categories whose messages decide about the keys of their events; of others, only the name of a thread counts."""
KEYED_BY_FIELDS: Final[frozenset[EventField]] = frozenset({*_NAMES, "group"})
"""Fields whose values decide about the keys of events."""
KEYED_BY_MORE_FIELDS: Final[Mapping[EventCategory, frozenset[EventField]]] = {
    **{category: frozenset(fields) for category, fields in ENDLESS.items()},
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
    """Return the categories that are an incident only if they repeat or last."""
    known = load_incidents().items()
    return frozenset(category for category, one in known if one.at_least > 1 or one.lasting_s)


def margin_of(category: EventCategory) -> int:
    """Return how far before and after a slice the events of a category are needed."""
    return LONG_MARGIN_MS if category in _long_categories() else MARGIN_MS


def gap_of(category: EventCategory) -> int:
    """Return the longest pause between events of a category within an incident."""
    return LONG_GAP_MS if category in _long_categories() else GAP_MS


class LogStarts:
    """The moments at which logs begin: the initializations of that time name the clients that print no name."""

    def __init__(self, sources: Sequence[SourceSummary]) -> None:
        self._starts = sorted({source.first_ms for source in sources if source.first_ms is not None})

    def are_near(self, time_ms: int) -> bool:
        """Return whether a log begins near a moment."""
        place = bisect_left(self._starts, time_ms - STARTED_MS - UNKNOWN_CLOCK_MS)
        return place < len(self._starts) and self._starts[place] <= time_ms + 2 * UNKNOWN_CLOCK_MS


def is_whole(event: LogEvent, starts: LogStarts) -> bool:
    """Return whether every slice gets an event."""
    if event.category == "INIT_PRODUCER_ID":
        return "coordinator_partition" in event.fields and starts.are_near(event.time_ms or 0)
    if event.category in DISCONNECTS:
        return fetched_from(event) != ""
    if event.category == "COORDINATOR_LOAD":
        # A shorter load is within the margin of what it explains.
        took_ms = event.fields.get("load_ms", "")
        return took_ms.isdecimal() and int(took_ms) >= GAP_MS
    return event.category in LIVES


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
    apart = ENDLESS.get(event.category)
    endless = (event.file, *(event.fields.get(name, "") for name in apart)) if apart else ()
    voter = voter_not_reached(event) if event.category in DISCONNECTS else ""
    signs = zone, str(is_server), is_guess, of_library
    yield ("event", event.category, *place, *writer, *signs, *names, voter, *endless)
    if event.category == "COORDINATOR_LOAD" and "txn coordinator" in event.message:
        elected = (event.fields.get(name, "") for name in ("coordinator_partition", "coordinator_epoch"))
        yield (ELECTION, *elected)
