"""Decide whether records of one fault are enough for an incident: it lasted, the client gave up, or the log ends in it.

A client's own retries come first: librdkafka and its bindings, sarama, KafkaJS, ruby-kafka, and the pipelines on top of
them (Vector, Telegraf, Fluent Bit, Fluentd, the OpenTelemetry Collector) return an error only once they have ended.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from eosctl.logs.classifier.catalog import CatalogedIncident
from eosctl.logs.incidents.timeline.restorations import RESTORED_MS, is_restoring_at_end, restored_after_ms
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.event_names import EventCategory
from eosctl.model.log_event import ERROR_LEVELS, FATAL_LEVELS, LogEvent, is_error

GIVE_UP_MS: Final = 120_000
"""Maximum time from a client's last attempt until it reports that it gave up."""
_ENDED: Final[tuple[EventCategory, ...]] = (
    *("CLIENT_GAVE_UP", "TIMEOUT_INIT_PID", "TIMEOUT_METADATA", "PRODUCER_MISUSED"),
)
"""A client that could not start, or that left a transaction open and cannot begin the next one."""
_OF_TOPICS: Final[tuple[EventCategory, ...]] = ("NOT_LEADER", "UNKNOWN_TOPIC")
"""Faults of topics: a producer that cannot initialize does not end because of them."""
_UNREACHED: Final[tuple[EventCategory, ...]] = ("BROKERS_UNREACHED", "HOST_NOT_RESOLVED", "SENDING_SUSPENDED")
"""Records that a client reaches no broker."""
REPEATED: Final[EventCategory] = "SEND_REPEATED"
"""Attempts of a pipeline, which holds its records back until one succeeds: the last ones of a log are open."""
UNFINISHED_PARTS: Final = 4
"""A fault at the end of a log counts from this part of the time that it must last elsewhere."""
EXCERPT_MS: Final = 60_000
"""A log that spans less than this is an excerpt, which cannot show that a fault lasts."""
EXCERPT_RECORDS: Final = 2
"""Minimum number of records for an incident in an excerpt that has other records, too."""
SAME_MOMENT_MS: Final = 1_000
APART_MS: Final = 100
"""Records that follow closer than this are of one attempt."""
AGAIN: Final = 3
"""Minimum number of attempts with which a log ends, and that show a fault together."""
AGAIN_WARNED: Final = 8
"""The same for attempts that are only warnings."""
AFTERMATH_MS: Final = 900_000
"""Maximum time from a fault to the end of a log that has only other errors after it."""
TURNS: Final = 3
"""Minimum number of addresses that fail in turn in a rolling restart."""
SESSION_MS: Final = 60_000
"""Maximum time from a lost connection to ZooKeeper to the end of its session: the brokers' longest usual timeout."""
FOUND_MS: Final = 330_000
"""Maximum time until a consumer knows a new topic: metadata.max.age.ms (5 minutes) and a rebalance."""
_TAKEN_AWAY: Final = re.compile(r"(?i:\brevok\w+|\blost\b|\bun-?assign)")
_GAVE_UP: Final = re.compile(
    r"[Nn]o (?:more )?retries\b|\b[Rr]etries (?:are |were )?exhausted|RetriesExceeded\b|\bService call failed\. "
    r"|[Ff]ailed to deliver \d+ messages?|\b(?:Rejecting|Dropping) data\b|[Mm]essage delivery failed"
    r"|\b[Dd]elivery failed\b|failed to flush the buffer|\bGiving up\b|\bgave up\b|[Cc]ould not find the leader"
    r"|^[Rr]unning \w{1,40}: |\b[Ee]rror running \w|\b[Ee]xiting (?:with|due|because)\b"
    r"|\brun out of available brokers\b|Problem getting partitions during startup|\bHandler for \S+ failed with\b"
)
_FAILED: Final = re.compile(
    r"\b(?:[Pp]roduce|[Pp]ublish|[Ss]end|[Cc]ommit)(?:ing)?(?: of \w{1,20})? failed\b"
    r"|\b[Ff]ailed to (?:produce|publish|send|deliver|commit)\b"
)
"""A program's own words about an operation that failed."""
_OF_JAVA: Final = re.compile(r"\[Consumer clientId=[^\n]{1,600}?\] Offset commit failed on partition ")
"""An attempt of the Java client: if it does not repeat a commit, its caller gets an exception and reports that."""
_RETRIES: Final = re.compile(r"\b[Rr]etry(?:ing)?\b")
_CONTINUES: Final = re.compile(r"\b[Ww]ill (?:be )?retr(?:y|ied)\b")
"""A pipeline repeats the batch that its client could not deliver."""
_ALL_DOWN: Final = re.compile(r"\bbrokers are down\b|\bAll broker connections are down\b|_ALL_BROKERS_DOWN\b")
_NO_ANSWER: Final = re.compile(r"(?i:\bconnection refused|\bno route to host|\bunreachable|\btimed ?out)")
_LEFT: Final = re.compile(r"\b[Rr]etrying\b[^\n]{0,60}\((\d{1,10}) (?:attempts?|retries) (?:remaining|left)\)")
_RETRIABLE: Final = frozenset({"CONCURRENT_TRANSACTIONS"})
"""Errors that every client repeats until its retries end."""
_OF_RETRIER: Final = re.compile(r"\[Producer\] Failed to send messages: |\[Connection\] Response \w{1,40}\(key: \d")
"""An attempt of KafkaJS, and its answer: KafkaJS reports the end of its retries to the program as another error."""
RETRY_MS: Final = 30_000
"""Maximum time from a client's last retry until the program reports its error."""
_LIBRARY: Final = "[thrd:"
"""A thread of librdkafka, which logs every attempt; its error is final where the application reports it."""


def in_its_log(timeline: LogTimeline, event: LogEvent) -> LogEvent:
    """Return an event in the category that the records next to it show.

    A lost connection to ZooKeeper belongs to the session that ends before there is another one. The Java client also
    reports a bootstrap broker as disconnected after a connection that it could not make.
    """
    if event.time_ms is None:
        return event
    if event.category == "ZK_CONNECTION_LOST":
        later = timeline.log_between(
            event, event.time_ms, event.time_ms + SESSION_MS, ("ZK_SESSION", "ZK_SESSION_RENEWED")
        )
        is_over = bool(later) and later[0].category == "ZK_SESSION"
        return event._replace(category="ZK_SESSION") if is_over else event
    if event.category == "BOOTSTRAP_DISCONNECTED":
        near = timeline.log_between(event, event.time_ms - SAME_MOMENT_MS, event.time_ms, ("BROKERS_UNREACHED",))
        is_made = not any(_is_of_connection(one, event) for one in near)
        return event if is_made else event._replace(category="BROKERS_UNREACHED")
    return event


def _is_of_connection(failed: LogEvent, ended: LogEvent) -> bool:
    """Return whether a connection that was not made is the one that another record of the client reports as ended."""
    client = ended.fields.get("client_id")
    if not client or failed.fields.get("client_id") != client:
        return False
    places = [_place_of(event.fields.get("peer", "")) for event in (failed, ended)]
    return not all(places) or places[0] == places[1]


def _place_of(peer: str) -> str:
    """Return the name and the port of an address.

    >>> _place_of("localhost/127.0.0.1:9092")
    'localhost:9092'
    """
    name, slash, address = peer.partition("/")
    return f"{name}:{address.rpartition(':')[2]}" if slash and name else peer.lstrip("/")


def is_fault(timeline: LogTimeline, events: Sequence[LogEvent], known: CatalogedIncident) -> bool:
    """Return whether records, in order of time, are enough for an incident."""
    if _is_found_later(timeline, events) or _is_restored_soon(timeline, events[-1]):
        return False
    if known.alone_from is not None:
        field, limit = known.alone_from
        if any(int(event.fields.get(field, -1)) >= limit for event in events):
            return True
    if known.unfinished and events[0].category != REPEATED and gave_up(timeline, events):
        return True
    if events[-1].category == "BROKERS_UNREACHED" and _ends_without_brokers(timeline, events):
        return True
    if events[-1].category == "TASK_CORRUPTED" and _is_restored_late(timeline, events):
        return True
    if len(events) >= known.at_least:
        return has_lasted(events, known) or _is_unfinished(timeline, events, known)
    return ends_excerpt(timeline, events, known)


def _is_found_later(timeline: LogTimeline, events: Sequence[LogEvent]) -> bool:
    """Return whether a consumer is assigned the topic soon after it first missed it, and does not miss it again.

    A first start creates the topic; librdkafka's consumers report an error until then, and continue by themselves.
    """
    first, last = events[0], events[-1]
    topic = last.fields.get("topic", "")
    if last.category != "UNKNOWN_TOPIC" or not topic:
        return False
    names = re.compile(rf"(?<![\w.-]){re.escape(topic)}(?![\w.])")
    later = timeline.log_between(last, time_of(last), time_of(first) + FOUND_MS, ("ASSIGNMENT_CHANGE",))
    return any(names.search(event.message) and not _TAKEN_AWAY.search(event.message) for event in later)


def _is_restored_soon(timeline: LogTimeline, last: LogEvent) -> bool:
    """Return whether a store whose changelog position was gone was restored before its users could notice."""
    if last.category != "CHANGELOG_OUT_OF_RANGE":
        return False
    return bool(timeline.log_between(last, time_of(last), time_of(last) + RESTORED_MS, ("STATE_RESTORE_END",)))


def _is_restored_late(timeline: LogTimeline, events: Sequence[LogEvent]) -> bool:
    """Return whether a corrupted task was being restored when its log ended, or for longer than a rebalance takes."""
    return is_restoring_at_end(timeline, events[-1]) or restored_after_ms(timeline, events) >= RESTORED_MS


def _ends_without_brokers(timeline: LogTimeline, events: Sequence[LogEvent]) -> bool:
    """Return whether the log of a client ends with its report that no broker is left, after one did not answer.

    librdkafka does not repeat an equal error, so its silence after that does not show a connection.
    """
    is_last = timeline.log_end_ms(events[-1]) - time_of(events[-1]) <= SAME_MOMENT_MS
    texts = [event.message for event in events[-EXCERPT_RECORDS - 1 :]] if is_last else []
    return any(map(_ALL_DOWN.search, texts)) and any(map(_NO_ANSWER.search, texts))


def reports_no_broker(event: LogEvent) -> bool:
    """Return whether a client reports that none of its brokers is left."""
    return _ALL_DOWN.search(event.message) is not None


def ends_excerpt(timeline: LogTimeline, events: Sequence[LogEvent], known: CatalogedIncident) -> bool:
    """Return whether an excerpt of a log ends with a fault: people post the last lines of it, or only the fault."""
    if _is_found_later(timeline, events):
        return False
    is_posted = len(events) >= EXCERPT_RECORDS or _is_all_of_it(timeline, events[-1], known)
    return is_posted and _is_excerpt(timeline, events, known) and _is_unfinished(timeline, events, known)


def _is_all_of_it(timeline: LogTimeline, event: LogEvent, known: CatalogedIncident) -> bool:
    """Return whether a log has only one record, a warning or an error whose kind needs two elsewhere."""
    is_problem = event.level not in ("INFO", "DEBUG", "TRACE") and _RETRIES.search(event.message) is None
    return is_problem and known.at_least <= EXCERPT_RECORDS and timeline.log_record_count(event) == 1


def gave_up(timeline: LogTimeline, events: Sequence[LogEvent]) -> bool:
    """Return whether a client ended because of a fault: its record of it is final, or an end follows."""
    last = events[-1]
    endings: tuple[EventCategory, ...] = ("TIMEOUT_METADATA",) if last.category in _OF_TOPICS else _ENDED
    ends = timeline.log_between(last, time_of(events[0]), time_of(last) + GIVE_UP_MS, endings)
    is_client = last.application not in timeline.servers()
    if bool(ends) or (is_client and _used_up(timeline, events)):
        return True
    return any(event.level in FATAL_LEVELS or (is_client and _has_given_up(event)) for event in events)


def _used_up(timeline: LogTimeline, events: Sequence[LogEvent]) -> bool:
    """Return whether a program reports the same error after its client's last retry, which counts those that are left.

    Sarama logs each retry with their number; the error that it returns afterwards is the program's to report.
    """
    last_retry_ms: dict[str, int] = {}
    for event in events:
        log = timeline.log_of(event)
        if left := _LEFT.search(event.message):
            if int(left[1]) <= 1:
                last_retry_ms[log] = time_of(event)
            else:
                last_retry_ms.pop(log, None)
        elif time_of(event) - last_retry_ms.get(log, -GIVE_UP_MS) < RETRY_MS and not _RETRIES.search(event.message):
            return True
    return False


def has_lasted(events: Sequence[LogEvent], known: CatalogedIncident) -> bool:
    """Return whether a fault lasted for the time that makes it an incident, at one address if records name them.

    A rolling restart takes one address after the other away.
    """
    times: dict[str, list[int]] = {}
    for event in events:
        times.setdefault(event.fields.get("peer", ""), []).append(time_of(event))
    return any(times_ms[-1] - times_ms[0] >= known.lasting_s * 1000 for times_ms in times.values())


def _is_unfinished(timeline: LogTimeline, events: Sequence[LogEvent], known: CatalogedIncident) -> bool:
    """Return whether a fault was still there when its log ended, and had not just begun.

    A short excerpt does not show how long it had lasted.
    """
    if _is_rolling(events):
        return False
    events = _at_the_last_address(events)
    if len(events) < known.at_least and not _is_excerpt(timeline, events, known):
        return False
    lasted_ms = time_of(events[-1]) - time_of(events[0])
    pause_ms = lasted_ms // (len(events) - 1) if len(events) > 1 else SAME_MOMENT_MS
    last_ms = _last_ms(timeline, events)
    is_last = timeline.log_end_ms(events[-1]) <= last_ms + pause_ms
    if not known.unfinished or not (is_last or _ends_in_errors(timeline, events[-1], last_ms)):
        return False
    is_repeated = events[-1].category == REPEATED or _failed_again(events)
    return is_repeated or not has_just_begun(events, known) or _is_excerpt(timeline, events, known)


def _ends_in_errors(timeline: LogTimeline, last: LogEvent, last_ms: int) -> bool:
    """Return whether a log ends soon after a fault, with nothing but other errors after it."""
    end_ms = timeline.log_end_ms(last)
    later = timeline.log_between(last, last_ms + 1, last_ms + AFTERMATH_MS) if is_error(last) else ()
    return bool(later) and all(map(is_error, later)) and time_of(later[-1]) >= end_ms - SAME_MOMENT_MS


def _failed_again(events: Sequence[LogEvent]) -> bool:
    """Return whether enough attempts failed in a row to show a fault: fewer errors than warnings."""
    times = [time_of(event) for event in events if event.level not in ("INFO", "DEBUG", "TRACE")]
    attempts = 1 + sum(1 for before_ms, after_ms in pairwise(times) if after_ms - before_ms >= APART_MS)
    return attempts >= (AGAIN if all(is_error(event) for event in events) else AGAIN_WARNED)


def _is_rolling(events: Sequence[LogEvent]) -> bool:
    """Return whether one address after the other failed, and the last one for no longer than those before it.

    Each of the others was reached again before the next one failed, so nothing shows that the last one is not.
    """
    spans: dict[str, tuple[int, int]] = {}
    for event in events:
        if peer := event.fields.get("peer", ""):
            spans[peer] = spans.get(peer, (time_of(event), 0))[0], time_of(event)
    ordered = sorted(spans.values())
    if len(ordered) < TURNS or any(later[0] <= before[1] for before, later in pairwise(ordered)):
        return False
    longest_ms = max(end - begin for begin, end in ordered[:-1])
    return longest_ms > 0 and ordered[-1][1] - ordered[-1][0] <= longest_ms + SAME_MOMENT_MS


def _last_ms(timeline: LogTimeline, events: Sequence[LogEvent]) -> int:
    """Return the time of the last record of a fault; a client reports in several ways that it reaches no broker."""
    last = events[-1]
    if last.category not in _UNREACHED:
        return time_of(last)
    later = timeline.log_between(last, time_of(last), timeline.log_end_ms(last), _UNREACHED)
    return max(map(time_of, later), default=time_of(last))


def _at_the_last_address(events: Sequence[LogEvent]) -> Sequence[LogEvent]:
    """Return the records of a fault since it began at the address of the last one; all if that names none."""
    peer = events[-1].fields.get("peer", "")
    if not peer:
        return events
    begin = next(place for place, event in enumerate(events) if event.fields.get("peer") == peer)
    return [event for event in events[begin:] if event.fields.get("peer", peer) == peer]


def has_just_begun(events: Sequence[LogEvent], known: CatalogedIncident) -> bool:
    """Return whether a fault lasted for less than a part of that time."""
    return (time_of(events[-1]) - time_of(events[0])) * UNFINISHED_PARTS < known.lasting_s * 1000


def _is_excerpt(timeline: LogTimeline, events: Sequence[LogEvent], known: CatalogedIncident) -> bool:
    """Return whether the log of a fault is too short for any of its kind to last in it."""
    spanned_ms = timeline.log_end_ms(events[-1]) - timeline.log_start_ms(events[0])
    return spanned_ms < min(known.lasting_s * 1000, EXCERPT_MS)


def is_final(event: LogEvent) -> bool:
    """Return whether a program reports as its own error what its client retries until then."""
    has_failed = event.level in ERROR_LEVELS and _FAILED.search(event.message) is not None
    return has_failed and not _RETRIES.search(event.message) and not _OF_JAVA.match(event.message)


def is_of_retrier(event: LogEvent) -> bool:
    """Return whether a client library reports an attempt as an error that it repeats itself, with a new request."""
    return event.category in _RETRIABLE and _OF_RETRIER.search(event.message) is not None


def _has_given_up(event: LogEvent) -> bool:
    """Return whether a client's record, or the error below it, reports the end of its retries."""
    if _LIBRARY in event.message or _CONTINUES.search(event.message):
        return False
    return bool(event.fields.get("gave_up")) or _GAVE_UP.search(event.message) is not None
