"""EOS-CAP-003."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.transaction import TransactionState
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import count_text


@check(
    "EOS-CAP-003",
    "Very many transactional ids are remembered",
    Area.CAPACITY,
    Severity.INFO,
    needs=frozenset({EvidenceKind.TRANSACTIONS}),
    since=(3, 0),
    tags=("capacity",),
    references=(
        "KIP-98",
        "transactional.id.expiration.ms",
    ),
)
def transactional_ids_pile_up(case: Case) -> Iterator[Problem]:
    """Find clusters on which transactional ids are made faster than they expire.

    What it checks:
        The ids that coordinators list, against 10,000, and how many of them are in use at the moment.

    Why it matters for exactly-once:
        An id that is never used again is kept for transactional.id.expiration.ms (seven days). Random ids also do not
        fence: a zombie of the previous run can still commit.

    Example:
        An id with a UUID for each start of a pod.

    Fix:
        Use ids that are the same after a restart.

    Verify:
        eosctl check run EOS-CAP-003 passes.
    """
    ids = case.snapshot.transactions
    if len(ids) > case.limits.transactional_id_count:
        in_use = sum(1 for t in ids if t.state in (TransactionState.ONGOING, "PrepareCommit", "PrepareAbort"))
        yield Problem(
            resource=Resource("cluster", case.snapshot.cluster_id),
            message=f"Coordinators know {count_text(len(ids), 'transactional id')}; {in_use:,} have one open.",
            impact="Coordinators take longer to load after a failover.",
            evidence=(Evidence("transactional ids", str(len(ids)), "ListTransactions"),),
            remedy=("Use ids that are the same after a restart.",),
            commands=(Command(f"eosctl txn list -b {case.bootstrap}", "which ids there are"),),
            verify=(Command(f"eosctl check run EOS-CAP-003 -b {case.bootstrap}"),),
            facts=(("transactional_id_count", len(ids)), ("in_use_count", in_use)),
        )
