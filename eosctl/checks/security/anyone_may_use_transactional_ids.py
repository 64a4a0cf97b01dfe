"""EOS-SEC-003."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.security.authorizer import no_authorizer
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource


@check(
    "EOS-SEC-003",
    "Everyone may use every transactional id",
    Area.SECURITY,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.ACCESS_RULES}),
    tags=(
        "security",
        "fencing",
    ),
    references=("KIP-98",),
    applies=no_authorizer,
)
def anyone_may_use_transactional_ids(case: Case) -> Iterator[Problem]:
    """Find rules that let any principal fence any application.

    What it checks:
        Allowing rules for User:* with Write or All on TransactionalId, for every name.

    Why it matters for exactly-once:
        Every client that may write an id may initialize it, which fences its owner in the middle of a transaction.

    Example:
        --allow-principal User:* --transactional-id '*'.

    Fix:
        Grant each application its own ids, by prefix.

    Verify:
        eosctl check run EOS-SEC-003 passes.
    """
    for rule in case.snapshot.access_rules.rules if case.snapshot.access_rules else ():
        everything = rule.resource_type == "TransactionalId" and rule.resource_name in ("*", "")
        if (
            rule.permission == "Allow"
            and rule.principal == "User:*"
            and everything
            and rule.operation in ("Write", "All")
        ):
            yield Problem(
                resource=Resource(
                    "access rule", f"{rule.principal} {rule.operation} TransactionalId {rule.resource_name}"
                ),
                message=f"{rule.principal} may use every transactional id.",
                impact="Any application can fence any other one.",
                evidence=(Evidence("operation", rule.operation, "DescribeAcls"),),
                remedy=("Grant each application its own ids, by prefix.",),
                verify=(Command(f"eosctl check run EOS-SEC-003 -b {case.bootstrap}"),),
                facts=(("principal", rule.principal),),
            )
