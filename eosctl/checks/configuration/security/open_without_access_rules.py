"""EOS-CFG-126."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-126",
    "Resources without access rules are open to everyone",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.BROKER,),
    reads=("allow.everyone.if.no.acl.found",),
    tags=("security",),
    references=("KIP-11",),
)
def open_without_access_rules(case: Case) -> Iterator[Problem]:
    """Find brokers on which any client may use a transactional id without rules.

    What it checks:
        allow.everyone.if.no.acl.found=true with an authorizer.

    Why it matters for exactly-once:
        Any client can initialize an id that no rule names, and thereby fence its owner.

    Example:
        Left in place after the introduction of access rules.

    Fix:
        Write rules for what is in use, then remove the setting.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        everyone = broker.value("allow.everyone.if.no.acl.found")
        authorizer = broker.value("authorizer.class.name")
        if everyone.is_given and everyone.flag is True and authorizer.is_given and authorizer.text:
            yield problem(
                broker,
                (everyone, authorizer),
                "allow.everyone.if.no.acl.found is true.",
                impact="Any client can fence a transactional id that no rule names.",
                remedy="Remove it when rules cover what is in use.",
            )
