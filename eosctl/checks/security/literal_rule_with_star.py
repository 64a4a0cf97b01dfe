"""EOS-SEC-001."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.security.authorizer import no_authorizer
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource


@check(
    "EOS-SEC-001",
    "Access rule with a star that is taken literally",
    Area.SECURITY,
    Severity.ERROR,
    needs=frozenset({EvidenceKind.ACCESS_RULES}),
    tags=("security",),
    references=("KIP-290",),
    applies=no_authorizer,
)
def literal_rule_with_star(case: Case) -> Iterator[Problem]:
    """Find access rules that match nothing because a star stands at the end of a literal name.

    What it checks:
        Literal rules whose resource name ends with a star and is not the star alone.

    Why it matters for exactly-once:
        The name is compared literally. The application is refused with TRANSACTIONAL_ID_AUTHORIZATION_FAILED although
        the rule seems to allow it.

    Example:
        kafka-acls.sh --add --transactional-id 'payments-*' without --resource-pattern-type prefixed.

    Fix:
        Add the rule again as a prefixed one, and remove the literal one.

    Verify:
        eosctl check run EOS-SEC-001 passes.
    """
    for rule in case.snapshot.access_rules.rules if case.snapshot.access_rules else ():
        name = rule.resource_name
        if rule.pattern_type == "Literal" and name.endswith("*") and name != "*":
            option = {"TransactionalId": "transactional-id"}.get(rule.resource_type, rule.resource_type.lower())
            yield Problem(
                resource=Resource("access rule", f"{rule.principal} {rule.operation} {rule.resource_type} {name}"),
                message=f"{name} is compared literally: no {rule.resource_type} is called that.",
                impact=f"{rule.principal} has not the right that the rule seems to give.",
                evidence=(Evidence("pattern", rule.pattern_type, "DescribeAcls"),),
                remedy=("Add it as a prefixed rule, then remove this one.",),
                commands=(
                    Command(
                        f"kafka-acls.sh --bootstrap-server {case.bootstrap} --add "
                        f"--allow-principal {quote(rule.principal)} --operation {rule.operation} "
                        f"--{option} {quote(name.rstrip('*'))} --resource-pattern-type prefixed"
                    ),
                ),
                verify=(Command(f"eosctl check run EOS-SEC-001 -b {case.bootstrap}"),),
                facts=(("principal", rule.principal), ("name", name)),
            )
