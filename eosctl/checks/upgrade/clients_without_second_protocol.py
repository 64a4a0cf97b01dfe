"""EOS-UPG-002."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import count_text, name_some

SECOND: Final = 2


@check(
    "EOS-UPG-002",
    "Clients use the old transaction protocol",
    Area.UPGRADE,
    Severity.INFO,
    needs=frozenset({EvidenceKind.FEATURES, EvidenceKind.TRANSACTION_HISTORY}),
    since=(4, 0),
    tags=(
        "upgrade",
        "hanging",
    ),
    references=(
        "KIP-890",
        "transaction.version",
    ),
)
def clients_without_second_protocol(case: Case) -> Iterator[Problem]:
    """Find transactional ids whose clients do not take a new epoch with each transaction.

    What it checks:
        With transaction.version=2: the newest record of each id in the transaction log in state Ongoing, Prepare or
        Complete, whose client's transaction version is 0 (clients before 4.0, and librdkafka).

    Why it matters for exactly-once:
        The brokers protect the ids of new clients by a new epoch for every transaction. Old clients rest on partition
        verification alone: keep it on.

    Example:
        Java producers of 3.9 and Python services on brokers of 4.1.

    Fix:
        Upgrade Java clients to 4.0 or later. librdkafka has no support for it yet.

    Verify:
        eosctl check run EOS-UPG-002 passes.
    """
    feature = case.snapshot.feature("transaction.version")
    if feature is None or (feature.finalized or 0) < SECOND:
        return
    newest = {entry.transactional_id: entry for entry in case.snapshot.transaction_history}
    old = sorted(
        name
        for name, e in newest.items()
        if e.client_transaction_version < SECOND and e.state not in ("", "Empty", "Dead")
    )
    if old:
        yield Problem(
            resource=Resource("cluster", case.snapshot.cluster_id),
            message=f"{count_text(len(old), 'transactional id')} of clients with the old transaction protocol.",
            impact="Only partition verification rejects a late request of such a client.",
            evidence=(Evidence("old protocol", name_some("id", old), "__transaction_state"),),
            remedy=("Upgrade Java clients to 4.0 or later; keep transaction.partition.verification.enable=true.",),
            verify=(Command(f"eosctl check run EOS-UPG-002 -b {case.bootstrap}"),),
            facts=(("transactional_ids", ",".join(old)),),
        )
