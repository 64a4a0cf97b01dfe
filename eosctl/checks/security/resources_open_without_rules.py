"""EOS-SEC-007."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.evidence import EvidenceKind
from eosctl.model.finding import Command, Evidence, Resource
from eosctl.model.severity import Severity


@check(
    "EOS-SEC-007",
    "What no rule names is open to everyone",
    Area.SECURITY,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.BROKER_CONFIGS}),
    tags=("security",),
    references=(
        "KIP-11",
        "allow.everyone.if.no.acl.found",
    ),
)
def resources_open_without_rules(case: Case) -> Iterator[Problem]:
    """Find brokers on which a transactional id without rules belongs to nobody.

    What it checks:
        allow.everyone.if.no.acl.found=true on brokers with an authorizer.

    Why it matters for exactly-once:
        Any client can initialise an id that no rule names, and so fence its owner.

    Example:
        Left in place after access rules were introduced.

    Fix:
        Write rules for what is in use, then remove the setting.

    Verify:
        eosctl check run EOS-SEC-007 passes.

    References:
        KIP-11; allow.everyone.if.no.acl.found.
    """
    for broker in case.snapshot.brokers:
        everyone, authorizer = broker.setting("allow.everyone.if.no.acl.found"), broker.setting("authorizer.class.name")
        judged = authorizer is not None and bool(authorizer.value)
        if everyone is not None and (everyone.value or "").lower() == "true" and judged:
            yield Problem(
                resource=Resource("broker", str(broker.node_id)),
                message="allow.everyone.if.no.acl.found is true.",
                impact="Any client can fence a transactional id that no rule names.",
                evidence=(Evidence(everyone.name, "true", everyone.origin or f"broker {broker.node_id}"),),
                remedy=("Remove it when rules cover what is in use.",),
                verify=(Command(f"eosctl check run EOS-SEC-007 -b {case.bootstrap}"),),
                facts=(("broker", broker.node_id),),
            )
