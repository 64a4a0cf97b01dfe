"""EOS-TXN-001."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.bootstrap import marker_line
from eosctl.findings.finding import Command
from eosctl.findings.impact import impact_text, incident_of, radius_facts
from eosctl.findings.summary import describe_looks
from eosctl.model.evidence import EvidenceKind
from eosctl.model.hang import HangCause, HangStatus, HangVerdict
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence, Evidence, Resource


@check(
    "EOS-TXN-001",
    "Hanging transaction",
    Area.TRANSACTION,
    Severity.CRITICAL,
    needs=frozenset({EvidenceKind.TRANSACTIONS, EvidenceKind.PRODUCERS}),
    uses=frozenset(
        {
            EvidenceKind.TRANSACTION_HISTORY,
            EvidenceKind.BROKER_CONFIGS,
            EvidenceKind.TOPIC_CONFIGS,
            EvidenceKind.OFFSETS,
            EvidenceKind.HIDDEN_RECORDS,
            EvidenceKind.GROUPS,
            EvidenceKind.GROUP_OFFSETS,
        }
    ),
    since=(2, 8),
    reads_log=True,
    tags=("hanging", "lso"),
    references=(
        "KIP-664",
        "KIP-890",
        "KAFKA-20734",
        "transaction.partition.verification.enable",
    ),
)
def hanging_transaction(case: Case) -> Iterator[Problem]:
    """Find transactions that are open on a partition and that no coordinator will ever end.

    What it checks:
        Every producer with an open transaction on every partition leader is compared with what the coordinators know,
        twice. A transaction hangs when no transactional id has its producer id, when the coordinator's transaction does
        not hold the partition, or when the coordinator has a later epoch. Client timestamps are not used; a hang is
        detected as soon as it is a second old. Coordinators before Kafka 3.0 do not list their open transactions;
        there the newest record of the transaction log decides, once it is older than five seconds.

    Why it matters for exactly-once:
        The last stable offset of the partition stops at the transaction's first record. Consumers with
        isolation.level=read_committed are blocked there while their lag seems to be zero, compaction of the partition
        stops, and in __consumer_offsets the group's offsets stay unstable. It lasts until an operator ends it.

    Example:
        A producer timed out, its transaction was aborted, and a delayed Produce request arrived afterwards. With
        transaction.partition.verification.enable=false the broker appends it: a transaction without a coordinator.

    Fix:
        Run the command that the finding prints: eosctl txn abort, or eosctl txn complete where the transaction was
        committed and only its marker is missing (KAFKA-20734, an unclean election). Both print a plan first and refuse
        transactions that do not hang. Then find the reason: partition verification switched off, or an id that expired.

    Verify:
        eosctl txn hanging reports nothing for the partition, and its last stable offset has moved.
    """
    for verdict in case.open_transactions:
        if verdict.status is HangStatus.HANGING:
            yield _problem(verdict, case)
        elif verdict.status is HangStatus.UNDECIDED:
            yield _undecided(verdict, case)


def _undecided(verdict: HangVerdict, case: Case) -> Problem:
    transaction = verdict.transaction
    where = str(transaction.partition)
    look_again = Command(f"eosctl txn hanging -b {case.bootstrap}", "look again")
    is_held_up = verdict.cause is HangCause.COORDINATOR_UNAVAILABLE and not all(
        broker.reachable for broker in case.snapshot.brokers
    )
    outcome = "its coordinator does not answer" if is_held_up else "whether it hangs could not be decided"
    return Problem(
        resource=Resource("partition", where),
        message=(
            f"Producer id {transaction.producer_id}, epoch {transaction.producer_epoch}, has a transaction open on "
            f"{where} "
            f"since offset {transaction.first_offset}; {outcome}."
        ),
        severity=Severity.WARNING if is_held_up else Severity.INFO,
        confidence=Confidence.POSSIBLE,
        cause=verdict.explanation,
        impact=impact_text(verdict),
        evidence=(*verdict.evidence, Evidence("observation", describe_looks(case.snapshot), "eosctl")),
        remedy=(
            "Start the brokers that do not answer: the coordinator then ends it, or shows that it hangs."
            if is_held_up
            else "Close the gap in the evidence and look again; do not abort on a guess.",
        ),
        commands=(look_again,),
        verify=(look_again,),
        incident=incident_of(verdict),
        facts=(
            ("cause", verdict.cause.value),
            ("can_abort", False),
            ("producer_id", transaction.producer_id),
            ("producer_epoch", transaction.producer_epoch),
            ("first_offset", transaction.first_offset),
            *radius_facts(verdict.blast_radius),
        ),
    )


def _problem(verdict: HangVerdict, case: Case) -> Problem:
    transaction = verdict.transaction
    where = str(transaction.partition)
    bootstrap = f"-b {case.bootstrap}"
    owner = f" ({transaction.transactional_id})" if transaction.transactional_id else ""
    commands: tuple[Command, ...] = (Command(f"eosctl txn hanging {bootstrap}", "all open transactions, with causes"),)
    remedy: tuple[str, ...]
    command = marker_line(verdict, case.bootstrap)
    if command:
        commands = (Command(command, "prints the plan; add --yes to carry it out"),)
    if verdict.can_abort:
        remedy = ("Abort it: write one ABORT marker to this partition.",)
    elif verdict.can_complete:
        remedy = (f"Complete it: write one COMMIT marker to this partition. Do not abort it: {verdict.abort_refusal}",)
    else:
        remedy = (f"Do not abort it: {verdict.abort_refusal}",)
    evidence = (*verdict.evidence, Evidence("observation", describe_looks(case.snapshot), "eosctl"))
    return Problem(
        resource=Resource("partition", where),
        message=(
            f"Producer id {transaction.producer_id}{owner}, epoch {transaction.producer_epoch}, has an open "
            f"transaction on {where} (first offset {transaction.first_offset}) that no coordinator will complete."
        ),
        confidence=verdict.confidence,
        cause=verdict.explanation,
        impact=impact_text(verdict),
        evidence=evidence,
        remedy=(*remedy, "Then find the cause: see the manual of this check."),
        commands=commands,
        verify=(
            Command(
                f"eosctl txn hanging {bootstrap}",
                f"{where} is gone and its last stable offset is past {transaction.first_offset}",
            ),
        ),
        incident=incident_of(verdict),
        facts=(
            ("cause", verdict.cause.value),
            ("can_abort", verdict.can_abort),
            ("can_complete", verdict.can_complete),
            ("producer_id", transaction.producer_id),
            ("producer_epoch", transaction.producer_epoch),
            ("transactional_id", transaction.transactional_id or ""),
            ("broker_id", transaction.broker_id),
            ("first_offset", transaction.first_offset),
            *radius_facts(verdict.blast_radius),
        ),
    )
