"""EOS-TXN-003."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from eosctl.analysis.locate import locate_transactional_id
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.hang import HangStatus
from eosctl.model.severity import Severity
from eosctl.model.verdict import Resource
from eosctl.text import duration_text


@check(
    "EOS-TXN-003",
    "Transaction open past its timeout",
    Area.TRANSACTION,
    Severity.ERROR,
    needs=frozenset({EvidenceKind.TRANSACTIONS}),
    uses=frozenset({EvidenceKind.BROKER_CONFIGS, EvidenceKind.PRODUCERS}),
    since=(3, 0),
    tags=("late", "lso"),
    references=(
        "KIP-98",
        "KAFKA-8803",
        "KAFKA-20090",
        "transaction.timeout.ms",
        "transaction.abort.timed.out.transaction.cleanup.interval.ms",
    ),
)
def ongoing_past_timeout(case: Case) -> Iterator[Problem]:
    """Find transactions that their coordinator should have aborted by now.

    What it checks:
        Transactions in state Ongoing whose start time plus timeout plus the coordinator's scan interval
        (transaction.abort.timed.out.transaction.cleanup.interval.ms) has passed, with a margin for different clocks.

    Why it matters for exactly-once:
        A transaction that never ends holds the last stable offset of all its partitions. The coordinator is supposed
        to prevent that. If it does not, its abort scan is stuck, its partition is loading, or its clock stepped back.

    Example:
        The coordinator's clock was set back by an hour: for an hour no transaction reaches its timeout (KAFKA-8803).

    Fix:
        Check the coordinator's log and clock. Fencing the transactional id ends the transaction through its
        coordinator; moving the leadership of its partition of __transaction_state gives it to a healthy one. Do not
        abort single partitions: that would tear the transaction apart.

    Verify:
        eosctl txn list shows the id in CompleteAbort.
    """
    for verdict in case.transactions:
        if verdict.status is not HangStatus.LATE:
            continue
        transaction = verdict.transaction
        home = locate_transactional_id(case.snapshot, transaction.transactional_id)
        where = f" ({home.partition})" if home is not None else ""
        partitions = ", ".join(str(partition) for partition in transaction.partitions)
        yield Problem(
            resource=Resource("transaction", transaction.transactional_id),
            message=(
                f"{transaction.transactional_id} has been Ongoing for {duration_text(verdict.age_ms or 0)} with a "
                "timeout of "
                f"{duration_text(transaction.timeout_ms)}."
            ),
            confidence=verdict.confidence,
            cause=verdict.explanation,
            impact=f"read_committed readers of {partitions} stand still." if partitions else "",
            evidence=verdict.evidence,
            remedy=(
                f"Check log and clock of broker {transaction.coordinator_id}, the coordinator{where}.",
                "End it through its coordinator; aborting single partitions would tear it apart.",
            ),
            commands=(
                Command(f"eosctl txn describe {quote(transaction.transactional_id)} -b {case.bootstrap}"),
                Command(
                    f"kafka-transactions.sh --bootstrap-server {case.bootstrap} forceTerminateTransaction "
                    f"--transactionalId {quote(transaction.transactional_id)}",
                    "Kafka 4.1 and later: fences the producer",
                ),
            ),
            verify=(Command(f"eosctl txn list -b {case.bootstrap}", "shows CompleteAbort"),),
            incident=f"{transaction.transactional_id}@{transaction.producer_id}/{transaction.producer_epoch}",
            facts=(
                ("transactional_id", transaction.transactional_id),
                ("producer_id", transaction.producer_id),
                ("producer_epoch", transaction.producer_epoch),
                ("coordinator_id", transaction.coordinator_id),
                ("age_ms", verdict.age_ms or 0),
                ("timeout_ms", transaction.timeout_ms),
                ("partitions", partitions),
            ),
        )
