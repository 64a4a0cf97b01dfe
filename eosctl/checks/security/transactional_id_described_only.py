"""EOS-SEC-004."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.security.authorizer import no_authorizer
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence, Evidence, Resource

WRITING: Final = ("Write", "All")


@check(
    "EOS-SEC-004",
    "Principal may describe transactional ids but not use them",
    Area.SECURITY,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.ACCESS_RULES}),
    tags=("security",),
    references=("KIP-98",),
    applies=no_authorizer,
)
def transactional_id_described_only(case: Case) -> Iterator[Problem]:
    """Find applications that write to topics and lack Write on the transactional ids that they may describe.

    What it checks:
        Principals with Describe on a TransactionalId and Write on some topic, but neither Write nor All on any
        TransactionalId.

    Why it matters for exactly-once:
        InitProducerId needs Write, which includes Describe. With Describe alone the application ends with
        TRANSACTIONAL_ID_AUTHORIZATION_FAILED.

    Example:
        An operator's read-only rule was copied for an application.

    Fix:
        Grant Write on the application's ids, by prefix.

    Verify:
        eosctl check run EOS-SEC-004 passes.
    """
    rules = case.snapshot.access_rules.rules if case.snapshot.access_rules else ()
    allowed = [rule for rule in rules if rule.permission == "Allow"]
    for principal in sorted({rule.principal for rule in allowed}):
        own = [rule for rule in allowed if rule.principal in (principal, "User:*")]
        described = [r for r in own if r.resource_type == "TransactionalId" and r.operation == "Describe"]
        usable = any(r.resource_type == "TransactionalId" and r.operation in WRITING for r in own)
        writes = any(r.resource_type == "Topic" and r.operation in WRITING for r in own)
        if described and writes and not usable:
            yield Problem(
                resource=Resource("principal", principal),
                message=f"{principal} may describe the transactional id {described[0].resource_name}, but use none.",
                confidence=Confidence.LIKELY,
                impact="Its transactional producers do not start.",
                evidence=(Evidence("rule", f"Describe {described[0].resource_name}", "DescribeAcls"),),
                remedy=("Grant Write on its transactional ids.",),
                verify=(Command(f"eosctl check run EOS-SEC-004 -b {case.bootstrap}"),),
                facts=(("principal", principal),),
            )
