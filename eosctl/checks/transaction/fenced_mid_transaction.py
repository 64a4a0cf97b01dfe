"""EOS-TXN-004."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from shlex import quote
from typing import Final

from eosctl.analysis.fencing import own_fence_evidence, own_fence_text
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.own_tests import as_information_of_tests
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.fencing import FencingCause, FencingEvent
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence, Evidence, Resource
from eosctl.text import count_text, duration_text, name_some, time_text

CAUSES = (FencingCause.NEWER_INSTANCE, FencingCause.ADMIN_FENCE)


@check(
    "EOS-TXN-004",
    "Producer fenced in the middle of a transaction",
    Area.TRANSACTION,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.TRANSACTION_HISTORY}),
    uses=frozenset({EvidenceKind.TRANSACTIONS, EvidenceKind.PRODUCERS, EvidenceKind.ABORTED_RANGES}),
    tags=("fencing", "zombie"),
    references=(
        "KIP-98",
        "KIP-588",
        "KIP-890",
        "transactional.id",
    ),
)
def fenced_mid_transaction(case: Case) -> Iterator[Problem]:
    """Find producers that lost an open transaction to a newer instance with the same transactional id.

    What it checks:
        The newest records of __transaction_state. An InitProducerId that finds a transaction open makes the coordinator
        raise the epoch and abort it: PrepareAbort at a later epoch, long before the timeout, followed by Empty at the
        next one. Fencings of the last hour count; three or more of one id are two instances that fight. A fence that
        eosctl made from this machine, which its audit file identifies by the epoch, is information.

    Why it matters for exactly-once:
        Fencing is what keeps a zombie from writing twice, so one of them after a crash is the protocol at work. In
        normal operation it means that two live producers share one transactional id: each restart of one kills the
        other's transaction, its work is aborted and done again.

    Example:
        Two pods of one deployment with the same transactional.id prefix. The older one fails with PRODUCER_FENCED or
        INVALID_PRODUCER_EPOCH at its next request.

    Fix:
        Find the second instance and give every live producer an id of its own; in Kafka Streams let the library choose
        the ids and keep state.dir. If the first instance crashed or was replaced, nothing is to be done.

    Verify:
        eosctl check run EOS-TXN-004 passes one hour after the last fencing; the log has no new one.
    """
    now_ms = case.snapshot.captured_at_ms
    recent = [
        event
        for event in case.fencings
        if event.cause in CAUSES
        and event.aborted_at_ms is not None
        and now_ms - event.aborted_at_ms <= case.limits.fencing_window_ms
    ]
    ordered = sorted(recent, key=lambda event: (event.transactional_id, event.aborted_at_ms or 0))
    for transactional_id, events in groupby(ordered, key=lambda event: event.transactional_id):
        yield as_information_of_tests(_problem(transactional_id, tuple(events), case))


def _problem(transactional_id: str, events: Sequence[FencingEvent], case: Case) -> Problem:
    others = tuple(event for event in events if event.own_fence is None)
    if not others:
        return _own_problem(transactional_id, events, case)
    own_evidence = tuple(own_fence_evidence(event.own_fence) for event in events if event.own_fence is not None)
    events = others
    last = events[-1]
    fight = len(events) >= case.limits.fencing_repeat_count
    confidence = Confidence.CERTAIN
    if all(event.confidence is not Confidence.CERTAIN for event in events):
        confidence = last.confidence
    partitions = ", ".join(str(partition) for partition in last.partitions)
    times = "" if len(events) == 1 else f" {count_text(len(events), 'time')} within the hour, last"
    when = time_text(last.aborted_at_ms or 0)
    return Problem(
        resource=Resource("transaction", transactional_id),
        message=(
            f"Producer id {last.producer_id}, epoch {last.fenced_epoch}, of {transactional_id} was fenced in the "
            "middle of a "
            f"transaction{times} at {when}."
        ),
        severity=Severity.ERROR if fight else None,
        confidence=confidence,
        cause=_fight(events, last) if fight else last.explanation,
        impact=_impact(last, partitions) if not fight else _impact_of_all(events),
        evidence=(*last.evidence, *_offset_evidence(last), *own_evidence),
        remedy=_REMEDY_OF_A_FIGHT if fight else _REMEDY,
        commands=(_describe(transactional_id, case),),
        verify=(Command(f"eosctl check run EOS-TXN-004 -b {case.bootstrap}", "no new fencing"),),
        incident=f"{transactional_id}@{last.producer_id}/{last.fenced_epoch}",
        facts=_facts(last, len(events)),
    )


_REMEDY: Final = (
    "Find out whether two live producers use this transactional id, and give each its own.",
    "If the earlier instance had crashed or was replaced, nothing is to be done: that is what fencing is for.",
)
_REMEDY_OF_A_FIGHT: Final = (
    "Find the live producers that use this transactional id, stop all but one, and give each an id of its own.",
    "If there is only one, find out why it starts again and again in the middle of transactions.",
)


def _fight(events: Sequence[FencingEvent], last: FencingEvent) -> str:
    """Return the cause of repeated fencings: crashes and replacements are rarer."""
    span_ms = (last.aborted_at_ms or 0) - (events[0].aborted_at_ms or 0)
    pace = f", one every {duration_text(span_ms // (len(events) - 1))} on average" if span_ms else ""
    return (
        f"{len(events)} fencings{pace}: live instances that share the id fence each other, or one instance restarts in "
        f"the middle of its transactions. The last one: {last.explanation}"
    )


def _impact_of_all(events: Sequence[FencingEvent]) -> str:
    partitions = {str(partition) for event in events for partition in event.partitions}
    return (
        f"{len(events)} transactions were aborted within the hour, with what they wrote to "
        f"{name_some('partition', sorted(partitions)) if partitions else 'no partition'}; the work is done again, or "
        "not at all while the instances fence each other."
    )


def _own_problem(transactional_id: str, events: Sequence[FencingEvent], case: Case) -> Problem:
    """Return the problem for an id that only eosctl itself has fenced."""
    last = events[-1]
    fence = last.own_fence
    assert fence is not None
    times = "" if len(events) == 1 else f" {count_text(len(events), 'time')} within the hour, last"
    partitions = ", ".join(str(partition) for partition in last.partitions)
    return Problem(
        resource=Resource("transaction", transactional_id),
        message=(
            f"eosctl fenced producer id {last.producer_id}, epoch {last.fenced_epoch}, of {transactional_id} in the "
            f"middle of a transaction{times} at {time_text(last.aborted_at_ms or 0)}: {own_fence_text(fence)}."
        ),
        severity=Severity.INFO,
        cause=last.explanation,
        impact=_impact(last, partitions),
        evidence=(*last.evidence, *_offset_evidence(last)),
        remedy=(
            f"If {fence.who} fenced it on purpose, nothing is to be done.",
            "Restart the producer if it should continue: it is refused until it initializes again.",
        ),
        commands=(_describe(transactional_id, case),),
        incident=f"{transactional_id}@{last.producer_id}/{last.fenced_epoch}",
        facts=(*_facts(last, len(events)), ("fenced_by", fence.who), ("fenced_with", fence.command)),
    )


def _describe(transactional_id: str, case: Case) -> Command:
    line = f"eosctl txn describe {quote(transactional_id)} -b {case.bootstrap}"
    return Command(line, "the life of the id, step by step")


def _facts(last: FencingEvent, count: int) -> tuple[tuple[str, str | int | bool], ...]:
    return (
        ("transactional_id", last.transactional_id),
        ("cause", last.cause.value),
        ("fencing_count", count),
        ("producer_id", last.producer_id),
        ("fenced_epoch", last.fenced_epoch),
        ("abort_epoch", last.abort_epoch),
        ("successor_epoch", -1 if last.successor_epoch is None else last.successor_epoch),
        ("aborted_at_ms", last.aborted_at_ms or 0),
        ("partitions", ", ".join(str(partition) for partition in last.partitions)),
        ("log_partition", -1 if last.log_partition is None else last.log_partition),
        ("log_offsets", ",".join(str(offset) for offset in last.log_offsets)),
    )


def _impact(event: FencingEvent, partitions: str) -> str:
    if not event.aborted_ranges:
        return f"What the transaction wrote to {partitions or 'no partition'} was aborted; readers skip it."
    where = [
        f"{found.partition} offset {found.first_offset}"
        + (f" to {found.marker_offset - 1}" if found.marker_offset is not None else " on")
        for found in event.aborted_ranges
    ]
    return f"Its records were aborted, readers skip them: {', '.join(where)}."


def _offset_evidence(event: FencingEvent) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(
            "aborted range",
            f"offset {found.first_offset} up to the marker at {found.marker_offset}, producer epoch "
            f"{found.producer_epoch}",
            f"Fetch {found.partition}",
        )
        for found in event.aborted_ranges
        if found.marker_offset is not None
    )
