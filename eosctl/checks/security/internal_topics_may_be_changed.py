"""EOS-SEC-002."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.security.authorizer import no_authorizer
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource

INTERNAL: Final = ("__transaction_state", "__consumer_offsets")
HARMFUL: Final = frozenset({"All", "Delete", "Alter", "AlterConfigs", "Write"})


@check(
    "EOS-SEC-002",
    "A principal may change Kafka's internal topics",
    Area.SECURITY,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.ACCESS_RULES}),
    tags=(
        "security",
        "internal-topics",
    ),
    references=(
        "KIP-290",
        "EOS-CFG-031",
    ),
    applies=no_authorizer,
)
def internal_topics_may_be_changed(case: Case) -> Iterator[Problem]:
    """Find principals with the right to delete, alter or write the internal topics.

    What it checks:
        Allowing rules on topics whose pattern covers __transaction_state or __consumer_offsets, with All, Delete,
        Alter, AlterConfigs or Write. A rule that names the topic itself is an error.

    Why it matters for exactly-once:
        Deleting __transaction_state deletes all decisions: open transactions hang, and fencing starts over. Adding
        partitions to it moves every id to another coordinator. Only access rules prevent this.

    Example:
        User:* with All on every topic.

    Fix:
        Grant rights on an application's own topics, by prefix; deny Delete and Alter on the internal ones.

    Verify:
        eosctl check run EOS-SEC-002 passes.
    """
    for rule in case.snapshot.access_rules.rules if case.snapshot.access_rules else ():
        covered = [topic for topic in INTERNAL if rule.covers("Topic", topic)]
        if rule.permission == "Allow" and rule.operation in HARMFUL and covered:
            named = rule.resource_name in INTERNAL
            yield Problem(
                resource=Resource("access rule", f"{rule.principal} {rule.operation} Topic {rule.resource_name}"),
                message=f"{rule.principal} may {rule.operation} {' and '.join(covered)}.",
                severity=Severity.ERROR if named else None,
                impact="A mistake of this principal can lose every transaction's outcome.",
                evidence=(Evidence("pattern", f"{rule.pattern_type} {rule.resource_name}", "DescribeAcls"),),
                remedy=("Grant rights on the application's own topics.",),
                verify=(Command(f"eosctl check run EOS-SEC-002 -b {case.bootstrap}"),),
                facts=(("principal", rule.principal), ("operation", rule.operation)),
            )
