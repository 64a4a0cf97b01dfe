"""Determine what fenced a producer: a second producer, or the coordinator after a timeout.

A producer's own log cannot distinguish the two causes; the coordinator's log can. Either another producer initialized
the transactional id, or the coordinator rolled back the transaction because of its age. Under transaction version 2,
epochs rise with every transaction, so only initializations count, not distances between epochs.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterator, Sequence, Set
from itertools import pairwise
from pathlib import PurePath
from typing import Final

from eosctl.logs.incidents.producers.checkpoints import between_checkpoints, checkpoints_apart
from eosctl.logs.incidents.producers.fencing_verdicts import (
    displaced,
    displaced_by,
    outdated_task,
    refused_after_own_attempt,
    replaced,
    unexplained,
)
from eosctl.logs.incidents.producers.lost_commits import loses_commit
from eosctl.logs.incidents.producers.not_open import empty_transaction, not_open
from eosctl.logs.incidents.producers.open_requests import failed_requests
from eosctl.logs.incidents.producers.outlived import expirations_of, outlived
from eosctl.logs.incidents.producers.overcome import overcame, own_renewal
from eosctl.logs.incidents.producers.own_clients import LOOK_BACK_MS, late_init, second_start
from eosctl.logs.incidents.producers.refused_appends import refused_appends, write_refused
from eosctl.logs.incidents.producers.refused_bumps import INITIALIZES, bump_refused, own_bumps
from eosctl.logs.incidents.producers.rivals import TURN_MS, Excerpts, fenced_in_turn, rivals_in
from eosctl.logs.incidents.producers.rollbacks import decided_before
from eosctl.logs.incidents.producers.timeout_verdicts import expired_by_client, stood_still, timed_out, unanswered
from eosctl.logs.incidents.timeline.announced import GUESSED
from eosctl.logs.incidents.timeline.durations import SOON_MS, begun_in_time, is_stated, overdue_before, paused_too_long
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.inits import identity_of
from eosctl.logs.incidents.timeline.names import is_of_streams
from eosctl.logs.incidents.timeline.own_words import takeover_in_words
from eosctl.logs.incidents.timeline.pauses import pauses_before
from eosctl.logs.incidents.timeline.timeline import LogTimeline, speaks_protocol
from eosctl.logs.incidents.timeline.times import by_key, episodes, time_of
from eosctl.logs.incidents.timeline.trouble import UNANSWERED
from eosctl.logs.incidents.timeline.unnamed import UNKNOWN_CLOCK_MS, Owners
from eosctl.model.incident import Incident
from eosctl.model.log_event import CALM_LEVELS, LogEvent

REFUSALS: Final = ("PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH", "INVALID_TXN_STATE", "CLIENT_FATAL", "TASK_MIGRATED")
_DECIDING: Final = ("INIT_PRODUCER_ID", "TXN_TIMEOUT_ABORT", "TXN_LATE_COMMIT")
"""What a coordinator logs about the reason of a refusal."""
BURST_MS = 30_000
CLOCK_SLACK_MS = 1_500
"""If two hosts' clocks differ by more, the order of their events is not trusted."""
WOKE_MS = 10_000
EXPIRED: Final = ("CLIENT_TXN_EXPIRED",)
"""The client itself names the timeout as the reason."""
_STREAMS_OF_PROCESSES: Final = frozenset({"console", "err", "error", "nohup", "out", "stderr", "stdout"})
"""Names of files that any program may write in addition to its log."""
_ENDS: Final = re.compile(
    r"Failed to end transaction|\bEndTxn\b|\b[Cc]ommit(?:ting)?[ _]?(?:the )?[Tt](?:xn|ransaction)\b"
)
"""Words of clients and programs about the request that ends a transaction: it may have had no partition."""
OWN_MS: Final = 120_000
"""Maximum time from a request that timed out to the answer that fences its client; twice the default max.block.ms."""
_STALLED: Final = re.compile(r"session timed out|due to request timeout|UNKNOWN_MEMBER_ID|member id \S+ is not valid")
"""The first errors of a client after a stall: others have given it up."""


def find_fenced_producers(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield one incident for each refusal of a live producer, with the cause from the coordinator's log."""
    # A broker of Redpanda reports the refusal itself; one of Kafka reports the epoch.
    reported = [*timeline.client_events(*REFUSALS), *timeline.server_events("PRODUCER_FENCED")]
    refusals = [event for event in reported if _is_refusal(timeline, event)]
    owners, excerpts = Owners(timeline), Excerpts(timeline)
    keyed = by_key((owners.transactional_id(event), event) for event in refusals)
    # At these levels, programs also mention errors that did not happen.
    alarmed = [event for event in keyed.pop("", ()) if event.level not in CALM_LEVELS]
    nameless = by_key((timeline.log_of(event), event) for event in alarmed)
    for transactional_id, events in keyed.items():
        # Without the coordinator's log, only the programs' turns show that they share the id.
        is_decided = bool(_decisions_about(timeline, transactional_id))
        for turns in episodes(events, TURN_MS):
            if rivals := None if is_decided else rivals_in(timeline, excerpts, turns):
                yield fenced_in_turn(transactional_id, rivals, turns)
            else:
                yield from _judge_each(timeline, transactional_id, turns)
    named = [event for events in keyed.values() for event in events]
    named_ms = {
        program: sorted(map(time_of, events))
        for program, events in by_key((name, event) for event in named for name in ("", event.application)).items()
    }
    for events in nameless.values():
        for burst in episodes(events, BURST_MS):
            # It may be the second file of a program that names its id in the first one.
            is_stream = PurePath(burst[0].file).stem.lower() in _STREAMS_OF_PROCESSES
            own = named_ms.get("" if is_stream else burst[0].application, ())
            if bisect_left(own, time_of(burst[0]) - BURST_MS) == bisect_right(own, time_of(burst[0]) + BURST_MS):
                yield from _guess(timeline, "", burst)
    yield from _late_ends(timeline, keyed)


def _judge_each(timeline: LogTimeline, transactional_id: str, refusals: Sequence[LogEvent]) -> Iterator[Incident]:
    for burst in episodes(refusals, BURST_MS):
        is_named = any(timeline.transactional_id(event) for event in burst)
        for one in _judge(timeline, transactional_id, burst):
            # The only candidate is most likely the client's id; its log does not show it.
            yield one if is_named else one._replace(confidence=min(one.confidence, GUESSED))


def _late_ends(timeline: LogTimeline, known: Container[str]) -> Iterator[Incident]:
    """Yield the commits, known from coordinators alone, of transactions that had already ended."""
    events = timeline.server_events(*_DECIDING)
    for transactional_id, own in by_key((event.fields.get("transactional_id", ""), event) for event in events).items():
        if transactional_id in known:
            continue
        last_ms = -LOOK_BACK_MS
        for ended, late in pairwise(own):
            age_ms = time_of(late) - time_of(ended)
            if late.category != "TXN_LATE_COMMIT" or ended.category == late.category or age_ms > LOOK_BACK_MS:
                continue
            if time_of(late) - last_ms <= BURST_MS:
                continue
            last_ms = time_of(late)
            if ended.category == "TXN_TIMEOUT_ABORT":
                yield timed_out(timeline, transactional_id, [ended, late], time_of(ended))
            else:
                yield displaced_by(transactional_id, ended, late)


def _is_refusal(timeline: LogTimeline, event: LogEvent) -> bool:
    """Return whether an event means that the producer cannot continue; librdkafka's fatal errors must mean fencing."""
    if event.category == "COMMIT_LOST" and not timeline.transactional_id(event):
        # The id would be a guess, but the loss is certain.
        return False
    if event.category == "CLIENT_FATAL":
        return "fenced" in event.message
    if event.category in ("INVALID_PRODUCER_EPOCH", "INVALID_TXN_STATE"):
        # A client library's own state machine. Programs that speak the protocol themselves have another detector.
        return not speaks_protocol(timeline, event)
    return True


def _judge(timeline: LogTimeline, transactional_id: str, burst: Sequence[LogEvent]) -> Iterator[Incident]:
    first = burst[0]
    if fencing := _fencing_of_connect(timeline, first):
        yield outdated_task(timeline, transactional_id, [*fencing, *burst])
        return
    until = time_of(first) + CLOCK_SLACK_MS + BURST_MS
    since = time_of(first) - LOOK_BACK_MS
    about = _decisions_about(timeline, transactional_id)
    server = [*decided_before(timeline, about, first, since), *within(about, since, until)]
    slack_ms = CLOCK_SLACK_MS if timeline.own_inits(first).events else UNKNOWN_CLOCK_MS
    before = [event for event in server if time_of(event) <= time_of(first) + slack_ms]
    rollback = next((one for one in reversed(before) if one.category == "TXN_TIMEOUT_ABORT"), None)
    if rollback is not None and rollback.file == first.file and time_of(rollback) > time_of(first):
        rollback = None  # One clock: it came later.
    foreign = _last_foreign_init(timeline, transactional_id, first, before)
    if rollback is not None and loses_commit(timeline, burst):
        return  # Reported with the commit that is lost.
    if rollback is not None and not (foreign and time_of(foreign) < time_of(rollback)):
        again = within(about, time_of(rollback) + 1, time_of(burst[-1]))
        late = [event for event in again if event.category == "TXN_TIMEOUT_ABORT"]
        late += [event for event in server if event.category == "TXN_LATE_COMMIT"]
        yield _rolled_back(timeline, transactional_id, [rollback, *late], burst)
    elif foreign and _is_of_task(foreign) and timeline.log_of(foreign) != timeline.log_of(first):
        yield outdated_task(timeline, transactional_id, [foreign, *burst])
    elif foreign:
        yield replaced(
            timeline, transactional_id, [*timeline.own_inits(first).until(time_of(burst[-1])), foreign, *burst], foreign
        )
    elif late := [event for event in server if event.category == "TXN_LATE_COMMIT"]:
        yield timed_out(timeline, transactional_id, [*late, *burst], time_of(first))
    elif own := late_init(timeline, transactional_id, first):
        yield replaced(timeline, transactional_id, [*before[-1:], own, *burst], own)
    elif second := second_start(timeline, transactional_id, first):
        yield replaced(timeline, transactional_id, [*before[-1:], second, *burst], second)
    elif before and timeline.own_inits(first).events:
        if first.category != "TASK_MIGRATED":
            yield unexplained(timeline, transactional_id, burst)
    else:
        yield from _guess(timeline, transactional_id, burst)


def _rolled_back(
    timeline: LogTimeline, transactional_id: str, decided: Sequence[LogEvent], burst: Sequence[LogEvent]
) -> Incident:
    """Return the incident of a producer that was refused after a rollback, the first of a coordinator's decisions."""
    first, rollback, late = burst[0], decided[0], decided[1:]
    if expired := _reported_expiry(timeline, burst):
        return expired_by_client(timeline, transactional_id, [*decided, *expired, *burst])
    if apart := checkpoints_apart(timeline, first, time_of(rollback)):
        return between_checkpoints(timeline, transactional_id, apart, [*late, *burst], rollback)
    if (overdue := overdue_before(timeline, first)) and is_stated(overdue):
        return outlived(timeline, transactional_id, overdue, [*late, *burst], rollback=rollback)
    refused = refused_appends(timeline, burst)
    return timed_out(timeline, transactional_id, [*decided, *refused, *burst], time_of(rollback))


def _decisions_about(timeline: LogTimeline, transactional_id: str) -> Sequence[LogEvent]:
    """Return what coordinators logged about an id that may be the reason of a refusal, in order of time."""
    named = timeline.server_events_about(transactional_id, *_DECIDING)
    expired = expirations_of(timeline, transactional_id)
    return sorted((*named, *expired), key=time_of) if expired else named


def _is_of_task(init: LogEvent) -> bool:
    """Return whether a worker of Connect initialized a source task's producer: it runs the task from then on."""
    return init.fields.get("client_id", "").startswith("connector-producer-")


def _guess(timeline: LogTimeline, transactional_id: str, burst: Sequence[LogEvent]) -> Iterator[Incident]:
    """Yield the likelier of the two causes if the coordinator's log of the client's lifetime is missing."""
    first = burst[0]
    if refused := _refused_at_work(timeline, burst):
        yield write_refused(timeline, transactional_id, refused, burst)
    elif is_of_streams(transactional_id):
        # An id that contains the random name of a process belongs to that process alone.
        if first.category != "TASK_MIGRATED":
            yield stood_still(timeline, transactional_id, [*refused_appends(timeline, burst), *burst])
    elif loses_commit(timeline, burst):
        # Flink names both causes itself. What counts is that the records of a checkpoint are gone.
        return
    elif expired := _reported_expiry(timeline, burst):
        yield expired_by_client(timeline, transactional_id, [*expired, *burst])
    elif apart := checkpoints_apart(timeline, first, time_of(first)):
        yield between_checkpoints(timeline, transactional_id, apart, burst, None)
    elif overdue := overdue_before(timeline, first):
        yield outlived(timeline, transactional_id, overdue, burst)
    elif first.category != "TASK_MIGRATED":
        yield from _ended_or_displaced(timeline, transactional_id, burst)


def _ended_or_displaced(timeline: LogTimeline, transactional_id: str, burst: Sequence[LogEvent]) -> Iterator[Incident]:
    """Yield the cause of a refusal where no expiry is known: the end of the transaction, or another producer."""
    first = burst[0]
    stalled = _stalls_before(timeline, first)
    is_ended = any(event.category == "INVALID_TXN_STATE" for event in burst)
    if is_ended and (begun := begun_in_time(timeline, first)):
        if any(_ENDS.search(event.message) for event in burst):
            yield empty_transaction(timeline, transactional_id, begun, burst)
        return
    # A newer producer takes over the epoch; if only the transaction has ended, it timed out.
    is_end_refused = is_ended and any(_ENDS.search(event.message) for event in burst)
    if is_end_refused and not stalled and not pauses_before(timeline, first):
        yield not_open(timeline, transactional_id, burst)
    elif stalled or is_ended or paused_too_long(timeline, first):
        yield stood_still(timeline, transactional_id, [*stalled, *burst])
    elif renewal := own_renewal(timeline, burst):
        yield overcame(timeline, transactional_id, burst, renewal)
    elif requests := own_bumps(timeline, burst):
        yield bump_refused(timeline, transactional_id, requests, burst)
    elif attempts := _own_attempts(timeline, burst):
        yield refused_after_own_attempt(timeline, transactional_id, attempts, burst)
    elif failed := failed_requests(timeline, transactional_id, first):
        yield unanswered(timeline, transactional_id, failed, burst)
    else:
        yield displaced(timeline, transactional_id, burst)


def _own_attempts(timeline: LogTimeline, burst: Sequence[LogEvent]) -> Sequence[LogEvent]:
    """Return a client's request that timed out and its refused initializations, if their answer fenced it.

    The coordinator raises the epoch for the first attempt, and answers CONCURRENT_TRANSACTIONS until the transaction is
    aborted. An attempt with the former epoch is then refused like one of an older producer.
    """
    if not any(INITIALIZES.search(event.message) for event in burst):
        return ()
    first = burst[0]
    near = timeline.log_between(
        first, time_of(first) - OWN_MS, time_of(first), (*UNANSWERED, "CONCURRENT_TRANSACTIONS", "TIMEOUT_OTHER")
    )
    waited = [event for event in near if event.category == "CONCURRENT_TRANSACTIONS"]
    unanswered = [event for event in near if event.category != "CONCURRENT_TRANSACTIONS"]
    if not waited or not unanswered or time_of(unanswered[0]) > time_of(waited[0]):
        return ()
    return [*unanswered, *waited]


def _refused_at_work(timeline: LogTimeline, burst: Sequence[LogEvent]) -> Sequence[LogEvent]:
    """Return the leaders' records of refused appends, if nothing shows a stall or the end of the transaction."""
    refused = refused_appends(timeline, burst)
    if not refused or loses_commit(timeline, burst):
        return ()
    first = burst[0]
    has_stalled = bool(pauses_before(timeline, first)) or bool(_stalls_before(timeline, first))
    is_over = bool(_reported_expiry(timeline, burst)) or overdue_before(timeline, first) is not None
    return () if has_stalled or is_over else refused


def _stalls_before(timeline: LogTimeline, victim: LogEvent) -> Sequence[LogEvent]:
    """Return the first errors of a client after a stall, shortly before a refusal."""
    return timeline.log_matching(victim, time_of(victim) - WOKE_MS, time_of(victim), _STALLED)


def _reported_expiry(timeline: LogTimeline, burst: Sequence[LogEvent]) -> Sequence[LogEvent]:
    """Return the records near a refusal in which the client itself names the timeout as the reason."""
    return timeline.log_between(burst[0], time_of(burst[0]) - WOKE_MS, time_of(burst[-1]) + WOKE_MS, EXPIRED)


def _last_foreign_init(
    timeline: LogTimeline, transactional_id: str, victim: LogEvent, server: Sequence[LogEvent]
) -> LogEvent | None:
    """Return the last initialization of the id that was not one of the victim's own."""
    own = timeline.own_inits(victim).identities
    inits = [event for event in server if event.category == "INIT_PRODUCER_ID"]
    if own:
        foreign = [event for event in inits if identity_of(event) not in own] or _of_newer_life(own, inits, victim)
    elif inits and time_of(inits[-1]) < timeline.log_start_ms(victim) - UNKNOWN_CLOCK_MS:
        # A log that begins later: after its own initialization, another one or a rollback must have fenced it.
        foreign = inits[-1:] if server[-1] is inits[-1] else []
    else:
        # A library that does not print its id: the initialization nearest to the id's first mention is its own.
        started = timeline.named_ms(victim, transactional_id)
        nearest = min(inits, key=lambda event: abs(time_of(event) - started), default=victim)
        foreign = [event for event in inits if time_of(event) > time_of(nearest)]
        if (
            not foreign
            and inits
            and server[-1] == nearest
            and _had_it_before(timeline, transactional_id, nearest, victim)
        ):
            # The last initialization of the id fenced it: its own is an earlier one, in a truncated log.
            foreign = [nearest]
    if foreign or inits:
        return _fencing_one(foreign, timeline.own_inits(victim).until(time_of(victim)), victim)
    client_inits = timeline.client_events_about(transactional_id, "INIT_PRODUCER_ID")
    others = (event for event in reversed(client_inits) if _is_of_other(timeline, event, victim))
    until_ms = time_of(victim) + CLOCK_SLACK_MS
    logged = (event for event in others if time_of(event) <= until_ms and not (own and identity_of(event) in own))
    return next(logged, None) or takeover_in_words(timeline, victim, transactional_id, until_ms)


def _of_newer_life(own: Set[tuple[str, str]], inits: Sequence[LogEvent], victim: LogEvent) -> Sequence[LogEvent]:
    """Return the last initialization of an id, if it fenced a client although the log of the client has it, too.

    Several instances may write to one log, and people post them in one file. The newest epoch is refused only after a
    timeout, which is not over so soon: the refused client is one with an older epoch.
    """
    last = inits[-1:]
    producer_id, epoch = identity_of(last[0]) if last else ("", "")
    is_recent = bool(last) and 0 <= time_of(victim) - time_of(last[0]) <= SOON_MS
    older = {mine for of, mine in own if of == producer_id and mine.isdecimal() and epoch.isdecimal()}
    return last if is_recent and any(int(mine) < int(epoch) for mine in older) else ()


def _fencing_one(foreign: Sequence[LogEvent], own: Sequence[LogEvent], victim: LogEvent) -> LogEvent | None:
    """Return which initialization of others fenced a client: the last one before its refusal, after its own last one.

    One that follows the refusal may be of the client itself, or of a clock that differs.
    """
    since_ms = time_of(own[-1]) if own else 0
    fencing = [event for event in foreign if since_ms <= time_of(event) <= time_of(victim)]
    later = [event for event in foreign if time_of(event) > time_of(victim)]
    if fencing:
        return fencing[-1]
    return later[0] if later else foreign[-1] if foreign else None


def _is_of_other(timeline: LogTimeline, init: LogEvent, victim: LogEvent) -> bool:
    """Return whether another program or client than the victim logged an initialization."""
    if timeline.log_of(init) != timeline.log_of(victim):
        return True
    clients = init.fields.get("client_id"), victim.fields.get("client_id")
    return all(clients) and clients[0] != clients[1]


def _had_it_before(timeline: LogTimeline, transactional_id: str, last: LogEvent, victim: LogEvent) -> bool:
    """Return whether an id was initialized before the last time, and its client would have logged its own last one."""
    known = timeline.server_events_about(transactional_id, "INIT_PRODUCER_ID")
    return timeline.is_of_library(victim) and time_of(known[0]) < time_of(last)


def _fencing_of_connect(timeline: LogTimeline, victim: LogEvent) -> Sequence[LogEvent]:
    """Return the records of a worker that fenced the producers of a task's connector just before the task failed."""
    connector = victim.fields.get("connector_task", "").rpartition("-")[0]
    if not connector:
        return ()
    fencings = timeline.with_value("connector", connector, "CONNECT_FENCING")
    return within(fencings, time_of(victim) - BURST_MS, time_of(victim) + CLOCK_SLACK_MS)
