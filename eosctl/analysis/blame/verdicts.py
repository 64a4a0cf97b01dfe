"""The reason why an owner of a transactional id lost it to the next, from the transaction log.

Evaluated in this order: whether the id expired; whether the coordinator aborted an open transaction (it bumps the
epoch, a client's own abort below TV2 does not) and how long it had been open; and whether the successor did the same
work, other work, or none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from eosctl.analysis.applications import ApplicationKind, recognize_application
from eosctl.analysis.blame.tenures import Reign
from eosctl.analysis.fencing import find_own_fence, own_fence_evidence, own_fence_text
from eosctl.model.blame import BlameCause, BlameVerdict, Tenure
from eosctl.model.fencing import FencingCause, FencingEvent
from eosctl.model.history import TransactionLogEntry
from eosctl.model.limits import Limits
from eosctl.model.own_fence import OwnFence
from eosctl.model.transaction import TransactionState
from eosctl.model.verdict import Confidence, Evidence
from eosctl.text import count_text, duration_text, time_text

# The coordinator assigns a new producer id when the epoch would reach Short.MAX_VALUE.
LAST_EPOCH: Final = 32_766
_ENDED_BY_CLIENT: Final = (TransactionState.COMPLETE_ABORT,)

_ADVICE: Final = {
    BlameCause.NEWER_INSTANCE: (
        "If both should run, give each its own transactional.id. If one replaces the other, this is expected: the "
        "earlier one must exit when it is refused (ProducerFencedException), without an immediate restart."
    ),
    BlameCause.TIMEOUT_ABORT: (
        "Keep transactions shorter, or raise transaction.timeout.ms (brokers bound it by transaction.max.timeout.ms). "
        "Look for what held it up: a garbage collection, a slow store or sink, max.poll.records."
    ),
    BlameCause.ADMIN_FENCE: "Find out who fenced it. The producer must be restarted.",
    BlameCause.RECOVERY_BUMP: (
        "Look in the producer's log for the error before it (UNKNOWN_PRODUCER_ID, OUT_OF_ORDER_SEQUENCE_NUMBER, "
        "TimeoutException); the bump is the client's recovery."
    ),
    BlameCause.ID_EXPIRED: (
        "Producers that pause longer than transactional.id.expiration.ms (7 days by default) must initialize again; "
        "raise it to avoid this."
    ),
    BlameCause.EPOCH_EXHAUSTED: "Nothing: the coordinator changes the producer id after some 32,000 epochs.",
    BlameCause.TASK_MIGRATION: (
        "A rebalance moved the task; that fences by design. Go to processing.guarantee=exactly_once_v2, whose ids do "
        "not move, and keep rebalances rare (static membership, max.poll.interval.ms)."
    ),
    BlameCause.ID_COLLISION: (
        "Two applications or environments share this transactional.id: put application and environment into the id, "
        "and forbid others to use it (ACL on the transactional id with a prefix)."
    ),
    BlameCause.IDLE_TAKEOVER: "Nothing was lost. A restart looks the same as a second instance that takes over.",
}


class _Fall(NamedTuple):
    """The end of a tenure: the coordinator's abort, if any, and the time."""

    event: FencingEvent | None
    at_ms: int


def judge_reigns(
    transactional_id: str,
    reigns: Sequence[Reign],
    fencings: Sequence[FencingEvent],
    limits: Limits,
    own_fences: Sequence[OwnFence] = (),
) -> tuple[BlameVerdict, ...]:
    """Judge the end of every tenure that has ended, oldest first.

    Args:
        transactional_id: The id.
        reigns: From `find_reigns`.
        fencings: From `find_fencings`, of any ids.
        limits: Thresholds.
        own_fences: The fences that eosctl made from this machine.
    """
    by_abort = {(e.log_partition, e.log_offsets): e for e in fencings if e.transactional_id == transactional_id}
    found: list[BlameVerdict] = []
    for index, reign in enumerate(reigns):
        following = reigns[index + 1] if index + 1 < len(reigns) else None
        after = reigns[index + 2] if index + 2 < len(reigns) else None
        falls = _falls(reign, by_abort.values())
        found += _judge(transactional_id, reign, following, after, falls, limits, own_fences)
    return tuple(found)


def _falls(reign: Reign, events: Iterable[FencingEvent]) -> list[_Fall]:
    places = {(record.log_partition, record.offset) for record in reign.records}
    return [
        _Fall(event, event.aborted_at_ms or 0)
        for event in events
        if any((event.log_partition, offset) in places for offset in event.log_offsets[:2])
    ]


def _judge(
    transactional_id: str,
    reign: Reign,
    following: Reign | None,
    after: Reign | None,
    falls: Sequence[_Fall],
    limits: Limits,
    own_fences: Sequence[OwnFence],
) -> Iterator[BlameVerdict]:
    for fall in falls:
        if fall.event is not None and fall.event.cause is FencingCause.TIMEOUT:
            yield _verdict(BlameCause.TIMEOUT_ABORT, fall.event.confidence, fall.at_ms, fall.event.explanation, reign,
                           following, fall.event.evidence)  # fmt: skip
    if reign.expired:
        yield _expired(reign, following)
        return
    if following is None:
        return
    taken = next((f for f in reversed(falls) if f.event and f.event.cause is not FencingCause.TIMEOUT), None)
    if taken is not None and taken.event is not None:
        yield _taken(transactional_id, reign, following, after, taken.event)
    elif not falls:
        own = find_own_fence(own_fences, following.records[0], reign.tenure.producer_id)
        yield _idle(reign, following, limits) if own is None else _fenced_idle(reign, following, own)


def _expired(reign: Reign, following: Reign | None) -> BlameVerdict:
    tombstone = reign.records[-1]
    text = (
        f"The id was not used from {time_text(reign.tenure.ended_at_ms)} on and its coordinator forgot it at "
        f"{time_text(tombstone.written_at_ms)} (transactional.id.expiration.ms). A producer that still had producer "
        f"id {reign.tenure.producer_id} is refused with INVALID_PRODUCER_ID_MAPPING."
    )
    return _verdict(
        BlameCause.ID_EXPIRED, Confidence.CERTAIN, tombstone.written_at_ms, text, reign, following, (_at(tombstone),)
    )


def _taken(
    transactional_id: str, reign: Reign, following: Reign, after: Reign | None, event: FencingEvent
) -> BlameVerdict:
    """Judge an abort caused by an InitProducerId; the next records show whose it was."""
    loser, winner = reign.tenure, following.tenure
    at_ms = event.aborted_at_ms or following.records[0].written_at_ms
    other_timeout = loser.timeout_ms != winner.timeout_ms
    if event.own_fence is not None:
        return _verdict(
            BlameCause.ADMIN_FENCE, event.confidence, at_ms, event.explanation, reign, following, event.evidence
        )
    if event.cause is FencingCause.ADMIN_FENCE or (not winner.transaction_count and not _is_open(following)):
        by_api = event.cause is FencingCause.ADMIN_FENCE or other_timeout
        if by_api:
            text = (
                f"{_open_for(event)}. The next initialization of the id set a timeout of {winner.timeout_ms} ms, and "
                "no write followed: this is Admin.fenceProducers (its request timeout becomes the transaction's), "
                "not a producer."
            )
            return _verdict(BlameCause.ADMIN_FENCE, Confidence.LIKELY, at_ms, text, reign, following, event.evidence)
    topics_before = {where.topic for where in loser.partitions}
    topics_after = {where.topic for where in winner.partitions}
    if topics_before and topics_after and not topics_before & topics_after:
        more = f" and a timeout of {winner.timeout_ms} ms instead of {loser.timeout_ms} ms" if other_timeout else ""
        text = (
            f"{_open_for(event)}. The earlier owner wrote {_names(topics_before)}, the later one "
            f"{_names(topics_after)}{more}: two different applications use this transactional.id."
        )
        return _verdict(BlameCause.ID_COLLISION, Confidence.LIKELY, at_ms, text, reign, following, event.evidence)
    if recognize_application(transactional_id) is ApplicationKind.STREAMS_BY_TASK:
        text = (
            f"{_open_for(event)}. The id is that of a Streams task (exactly_once before v2): the task moved to "
            "another thread or instance, which takes the producer over."
        )
        return _verdict(BlameCause.TASK_MIGRATION, Confidence.LIKELY, at_ms, text, reign, following, event.evidence)
    again = ""
    if after is not None and _same_work(reign, after):
        again = " The id then changed owners again: two instances compete for it."
    doubt = "" if winner.transaction_count or _is_open(following) else (
        " The newcomer has written nothing since, so it may also have been an administrator's fence."
    )  # fmt: skip
    confidence = event.confidence if not doubt else Confidence.POSSIBLE
    text = f"{event.explanation}{_who(loser, winner)}{again}{doubt}"
    return _verdict(BlameCause.NEWER_INSTANCE, confidence, at_ms, text, reign, following, event.evidence)


def _fenced_idle(reign: Reign, following: Reign, own: OwnFence) -> BlameVerdict:
    """Judge a fence of eosctl while no transaction was open."""
    last, first = reign.records[-1], following.records[0]
    text = (
        f"eosctl fenced the id ({own_fence_text(own)}) with nothing open. A producer that is still at epoch "
        f"{reign.tenure.last_epoch} is refused from then on."
    )
    evidence = (_at(last), _at(first), own_fence_evidence(own))
    return _verdict(BlameCause.ADMIN_FENCE, Confidence.CERTAIN, first.written_at_ms, text, reign, following, evidence)


def _idle(reign: Reign, following: Reign, limits: Limits) -> BlameVerdict:
    """Judge a takeover without an open transaction: a restart, a takeover, or the client's own recovery."""
    loser, winner = reign.tenure, following.tenure
    last, first = reign.records[-1], following.records[0]
    evidence = (_at(last), _at(first))
    if winner.producer_id != loser.producer_id and loser.last_epoch >= LAST_EPOCH - 1:
        text = f"The epoch of producer id {loser.producer_id} was used up; the id got producer id {winner.producer_id}."
        return _verdict(
            BlameCause.EPOCH_EXHAUSTED, Confidence.CERTAIN, first.written_at_ms, text, reign, following, evidence
        )
    soon = first.written_at_ms - last.written_at_ms <= limits.reinit_within_ms
    same = winner.producer_id == loser.producer_id and winner.timeout_ms == loser.timeout_ms
    if last.state in _ENDED_BY_CLIENT and soon and same:
        text = (
            f"The producer aborted its transaction itself and initialized again "
            f"{duration_text(first.written_at_ms - last.written_at_ms)} later: this is how a client recovers from an "
            "abortable error (KIP-360). A producer that aborts and is restarted immediately leaves the same trace."
        )
        return _verdict(
            BlameCause.RECOVERY_BUMP, Confidence.LIKELY, first.written_at_ms, text, reign, following, evidence
        )
    text = (
        f"The id was initialized again {duration_text(max(0, first.written_at_ms - last.written_at_ms))} after its "
        f"last step ({last.state}), with nothing open.{_who(loser, winner)} A producer that is still at epoch "
        f"{loser.last_epoch} is refused from then on."
    )
    return _verdict(BlameCause.IDLE_TAKEOVER, Confidence.CERTAIN, first.written_at_ms, text, reign, following, evidence)


def _is_open(reign: Reign) -> bool:
    return any(record.state == TransactionState.ONGOING for record in reign.records)


def _same_work(reign: Reign, after: Reign) -> bool:
    return bool({p.topic for p in reign.tenure.partitions} & {p.topic for p in after.tenure.partitions})


def _open_for(event: FencingEvent) -> str:
    lasted = ""
    if event.started_at_ms is not None and event.aborted_at_ms is not None:
        lasted = f" {duration_text(max(0, event.aborted_at_ms - event.started_at_ms))} after it began"
    count = count_text(len(event.partitions), "partition")
    return f"The coordinator aborted an open transaction on {count}{lasted} for an InitProducerId"


def _who(loser: Tenure, winner: Tenure) -> str:
    names = [str(loser.instance), str(winner.instance)]
    if all(names):
        return f" Logs name both: {names[0]} lost it to {names[1]}."
    if names[0]:
        return f" Logs name the loser: {names[0]}."
    return f" Logs name the newcomer: {names[1]}." if names[1] else ""


def _names(topics: set[str]) -> str:
    shown = sorted(topics)
    return ", ".join(shown[:3]) + (f" and {len(shown) - 3} more" if len(shown) > 3 else "")


def _at(record: TransactionLogEntry) -> Evidence:
    value = f"producer id {record.producer_id}, epoch {record.producer_epoch}, {time_text(record.written_at_ms)}"
    return Evidence(
        record.state or "expired", value, f"__transaction_state-{record.log_partition} offset {record.offset}"
    )


def _verdict(
    cause: BlameCause,
    confidence: Confidence,
    at_ms: int,
    explanation: str,
    reign: Reign,
    following: Reign | None,
    evidence: tuple[Evidence, ...],
) -> BlameVerdict:
    winner = None if following is None else following.tenure
    return BlameVerdict(
        cause=cause,
        confidence=confidence,
        at_ms=at_ms,
        explanation=explanation,
        advice=_ADVICE[cause],
        loser=reign.tenure,
        winner=winner,
        evidence=evidence,
    )
