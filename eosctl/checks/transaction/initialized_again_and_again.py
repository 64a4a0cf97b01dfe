"""EOS-TXN-015."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.own_tests import as_information_of_tests
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.history import TransactionLogEntry
from eosctl.model.severity import Severity
from eosctl.model.transaction import TransactionState
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import count_text, duration_text, time_text


@check(
    "EOS-TXN-015",
    "Transactional id is initialized again and again",
    Area.TRANSACTION,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.TRANSACTION_HISTORY}),
    tags=("fencing", "zombie"),
    references=("KIP-98", "KIP-360", "transactional.id"),
)
def initialized_again_and_again(case: Case) -> Iterator[Problem]:
    """Find transactional ids that producers initialize far more often than restarts explain.

    What it checks:
        The newest records of __transaction_state. Every InitProducerId leaves one record in state Empty. Twenty or more
        of one id within ten minutes are a warning. The commits in between show whether the producers do any work.

    Why it matters for exactly-once:
        Each InitProducerId fences the producer before it. Two live instances that initialize one id in turn fence each
        other before either commits, and every call costs a replicated write to the transaction log.

    Example:
        Two pods share a transactional.id and reconnect in a loop; or a service creates a producer for each message.

    Fix:
        Give every live instance a transactional.id of its own, back off after ProducerFencedException, and create
        one producer for the lifetime of an instance.

    Verify:
        eosctl check run EOS-TXN-015 passes ten minutes later.
    """
    since_ms = case.snapshot.captured_at_ms - case.limits.initialization_window_ms
    for transactional_id, entries in sorted(case.snapshot.history_by_id.items()):
        recent = [entry for entry in entries if entry.written_at_ms >= since_ms]
        started = [entry for entry in recent if entry.state == TransactionState.EMPTY]
        if len(started) >= case.limits.initialization_count:
            commits = sum(entry.state == TransactionState.PREPARE_COMMIT for entry in recent)
            yield as_information_of_tests(_problem(transactional_id, started, commits, case))


def _problem(transactional_id: str, started: Sequence[TransactionLogEntry], commits: int, case: Case) -> Problem:
    first, last = started[0], started[-1]
    span_ms = last.written_at_ms - first.written_at_ms
    works = (
        "None of these producers committed a transaction: they fence each other, or fail right after the start."
        if not commits
        else f"{count_text(commits, 'transaction')} committed in the same time: producers are created for single tasks "
        "or restart in a loop."
    )
    return Problem(
        resource=Resource("transaction", transactional_id),
        message=(
            f"{transactional_id} was initialized {count_text(len(started), 'time')} within {duration_text(span_ms)}, "
            f"last at {time_text(last.written_at_ms)}."
        ),
        cause=works,
        impact="Every InitProducerId fences the producer before it and writes to the transaction log.",
        evidence=tuple(
            Evidence(
                "InitProducerId",
                f"producer id {entry.producer_id}, epoch {entry.producer_epoch}, {time_text(entry.written_at_ms)}",
                f"__transaction_state-{entry.log_partition} offset {entry.offset}",
            )
            for entry in (first, last)
        ),
        remedy=(
            "Find the programs that start producers with this transactional id; leave one live producer per id.",
            "Back off after ProducerFencedException, and keep one producer for the lifetime of an instance.",
        ),
        commands=(
            Command(f"eosctl txn blame {quote(transactional_id)} -b {case.bootstrap}", "who initialized it when"),
        ),
        verify=(Command(f"eosctl check run EOS-TXN-015 -b {case.bootstrap}", "no further initialization"),),
        facts=(
            ("transactional_id", transactional_id),
            ("initialization_count", len(started)),
            ("commit_count", commits),
            ("span_ms", span_ms),
        ),
    )
