"""EOS-GRP-001."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from shlex import quote

from eosctl.analysis.locate import locate_group
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.transaction import TopicPartition
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import duration_text, name_some


@check(
    "EOS-GRP-001",
    "Old transaction holds a group's offsets",
    Area.GROUP,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.GROUPS, EvidenceKind.GROUP_OFFSETS, EvidenceKind.TRANSACTIONS}),
    uses=frozenset({EvidenceKind.PENDING_OFFSETS, EvidenceKind.PRODUCERS, EvidenceKind.OFFSETS}),
    tags=(
        "offsets",
        "lso",
    ),
    references=(
        "KIP-447",
        "transaction.timeout.ms",
    ),
)
def offsets_held_by_old_transaction(case: Case) -> Iterator[Problem]:
    """Find groups that cannot read their position because a transaction that wrote it is open for long.

    What it checks:
        Groups with unstable offsets whose partition of __consumer_offsets is in a transaction that has been open for
        two minutes or more, also groups that have never committed anything else.

    Why it matters for exactly-once:
        A consumer that takes over the partitions requests stable offsets and gets UNSTABLE_OFFSET_COMMIT until the
        transaction ends: after a crash the application is blocked for the transaction's timeout.

    Example:
        A producer with transaction.timeout.ms=900000 died in the middle of its transaction.

    Fix:
        End the transaction through its coordinator (eosctl txn describe shows whose it is); lower
        transaction.timeout.ms.

    Verify:
        eosctl check run EOS-GRP-001 passes.
    """
    for group_id, places in sorted(_held_offsets(case).items()):
        home = locate_group(case.snapshot, group_id)
        if home is None:
            continue
        for verdict in case.transactions:
            age_ms = verdict.age_ms or 0
            old = age_ms >= case.limits.long_running_transaction_ms
            is_owner = not (owners := _owners(case, group_id)) or verdict.transaction.producer_id in owners
            if home.partition in verdict.transaction.partitions and old and is_owner:
                owner = verdict.transaction.transactional_id
                yield Problem(
                    resource=Resource("group", group_id),
                    message=f"{owner} has held offsets of {group_id} for {duration_text(age_ms)}.",
                    impact=f"Its position in {name_some('partition', sorted(map(str, places)))} is unknown.",
                    evidence=(Evidence("unstable offsets", str(len(places)), "OffsetFetch require_stable"),),
                    remedy=("End the transaction through its coordinator.",),
                    commands=(Command(f"eosctl txn describe {quote(owner)} -b {case.bootstrap}"),),
                    verify=(Command(f"eosctl check run EOS-GRP-001 -b {case.bootstrap}"),),
                    facts=(("group", group_id), ("transactional_id", owner), ("age_ms", age_ms)),
                )


def _held_offsets(case: Case) -> dict[str, set[TopicPartition]]:
    """Return the partitions whose offsets a transaction holds, by group.

    Coordinators do not report a pending offset where the group has no committed one; its log has it.
    """
    found: dict[str, set[TopicPartition]] = defaultdict(set)
    for group in case.snapshot.groups:
        for offset in group.offsets:
            if offset.unstable:
                found[group.group_id].add(offset.partition)
    for pending in case.snapshot.pending_offsets:
        found[pending.group_id].add(pending.partition)
    return found


def _owners(case: Case, group_id: str) -> set[int]:
    """Return the producer ids that the log of pending offsets names for a group; empty where it was not read."""
    return {pending.producer_id for pending in case.snapshot.pending_offsets if pending.group_id == group_id}
