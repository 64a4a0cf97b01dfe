"""EOS-TXN-006."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from shlex import quote

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.own_tests import as_information_of_tests
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.fencing import FencingCause
from eosctl.model.severity import Severity
from eosctl.model.verdict import Resource
from eosctl.text import count_text, duration_text, time_text


@check(
    "EOS-TXN-006",
    "Transactions are aborted by their timeout",
    Area.TRANSACTION,
    Severity.INFO,
    needs=frozenset({EvidenceKind.TRANSACTION_HISTORY}),
    uses=frozenset({EvidenceKind.TRANSACTIONS}),
    tags=("fencing", "timeout"),
    references=(
        "KIP-98",
        "KIP-588",
        "transaction.timeout.ms",
        "commit.interval.ms",
    ),
)
def aborted_by_timeout(case: Case) -> Iterator[Problem]:
    """Find transactional ids whose transactions the coordinator aborted because they took too long.

    What it checks:
        The newest records of __transaction_state: PrepareAbort at a later epoch, once the transaction's timeout had
        passed. Aborts of the last hour count; three or more of one id are a warning.

    Why it matters for exactly-once:
        The producer does not learn of it until its next request, which is refused as if another instance had fenced it
        (INVALID_PRODUCER_EPOCH, PRODUCER_FENCED), although it is alone. The work is aborted and done again, and a
        timeout that is too short makes the application turn in circles.

    Example:
        commit.interval.ms of 30 s with a transaction.timeout.ms of 10 s; a long garbage collection; a batch whose
        processing takes longer than the timeout.

    Fix:
        Commit more often, or raise transaction.timeout.ms above the longest time between two commits. A crashed
        producer whose transaction timed out needs nothing.

    Verify:
        eosctl check run EOS-TXN-006 passes one hour after the last abort.
    """
    now_ms = case.snapshot.captured_at_ms
    timeouts = [
        event
        for event in case.fencings
        if event.cause is FencingCause.TIMEOUT
        and event.aborted_at_ms is not None
        and now_ms - event.aborted_at_ms <= case.limits.fencing_window_ms
    ]
    ordered = sorted(timeouts, key=lambda event: event.transactional_id)
    for transactional_id, group in groupby(ordered, key=lambda event: event.transactional_id):
        events = tuple(group)
        last = events[-1]
        lasted = (last.aborted_at_ms or 0) - (last.started_at_ms or 0)
        partitions = ", ".join(str(partition) for partition in last.partitions)
        problem = Problem(
            resource=Resource("transaction", transactional_id),
            message=(
                f"{transactional_id}: {count_text(len(events), 'transaction')} aborted by timeout within the hour, "
                "last at "
                f"{time_text(last.aborted_at_ms or 0)} after {duration_text(lasted)}."
            ),
            severity=Severity.WARNING if len(events) >= case.limits.fencing_repeat_count else None,
            cause=last.explanation,
            impact=f"What it wrote to {partitions or 'no partition'} was aborted; a producer that lives on sees itself "
            "fenced.",
            evidence=last.evidence,
            remedy=(
                "Commit more often, or raise transaction.timeout.ms; if the producer crashed, nothing is to be done.",
            ),
            commands=(
                Command(f"eosctl txn describe {quote(transactional_id)} -b {case.bootstrap}", "the life of the id"),
            ),
            verify=(Command(f"eosctl check run EOS-TXN-006 -b {case.bootstrap}", "no new abort"),),
            incident=f"{transactional_id}@{last.producer_id}/{last.fenced_epoch}",
            facts=(
                ("transactional_id", transactional_id),
                ("timeout_count", len(events)),
                ("producer_id", last.producer_id),
                ("fenced_epoch", last.fenced_epoch),
                ("partitions", partitions),
            ),
        )
        yield as_information_of_tests(problem)
