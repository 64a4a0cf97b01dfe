"""EOS-SEC-005."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.security.authorizer import no_authorizer
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence, Evidence, Resource


@check(
    "EOS-SEC-005",
    "Transactional principal may read topics but no group",
    Area.SECURITY,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.ACCESS_RULES}),
    tags=("security",),
    references=("KIP-447",),
    applies=no_authorizer,
)
def group_not_readable(case: Case) -> Iterator[Problem]:
    """Find consume-transform-produce applications that cannot send their offsets.

    What it checks:
        Principals with Write on a TransactionalId, and Read and Write on topics, but Read on no group.

    Why it matters for exactly-once:
        TxnOffsetCommit and AddOffsetsToTxn need Read on the group. Without it the application reads and writes and
        fails when it commits.

    Example:
        Rules for topics and ids were granted, the one for the group was forgotten.

    Fix:
        Grant Read on the application's group.

    Verify:
        eosctl check run EOS-SEC-005 passes.
    """
    rules = case.snapshot.access_rules.rules if case.snapshot.access_rules else ()
    allowed = [rule for rule in rules if rule.permission == "Allow"]
    for principal in sorted({rule.principal for rule in allowed if rule.principal != "User:*"}):
        rights = {(r.resource_type, r.operation) for r in allowed if r.principal in (principal, "User:*")}

        def may(resource: str, operation: str, rights: set[tuple[str, str]] = rights) -> bool:
            return (resource, operation) in rights or (resource, "All") in rights

        transactional = may("TransactionalId", "Write") and may("Topic", "Read") and may("Topic", "Write")
        if transactional and not may("Group", "Read"):
            yield Problem(
                resource=Resource("principal", principal),
                message=f"{principal} may read and write topics in transactions, but read no group.",
                confidence=Confidence.LIKELY,
                impact="It cannot commit offsets, in a transaction or without.",
                evidence=(Evidence("rules on groups", "none", "DescribeAcls"),),
                remedy=("Grant Read on its group.",),
                verify=(Command(f"eosctl check run EOS-SEC-005 -b {case.bootstrap}"),),
                facts=(("principal", principal),),
            )
