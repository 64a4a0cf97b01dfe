"""EOS-CFG-100."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-100",
    "Access rule names a prefix with a star, but is literal",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.ACCESS_RULE,),
    reads=(
        "resource.name",
        "pattern.type",
    ),
    tags=("security",),
    references=("KIP-290",),
)
def literal_access_rule_with_star(case: Case) -> Iterator[Problem]:
    """Find access rules that match nothing because a star stands at the end of a literal name.

    What it checks:
        Rules of pattern type literal (the default) whose resource name ends with a star and is not the star alone.

    Why it matters for exactly-once:
        A literal name is compared as it is: app-* is the name of one id that is not in use. The application is refused
        with TRANSACTIONAL_ID_AUTHORIZATION_FAILED, or the next step is a rule on everything.

    Example:
        resource: {type: transactionalId, name: 'payments-*'}.

    Fix:
        Use patternType: prefix and the name without its star (kafka-acls.sh: --resource-pattern-type prefixed).

    Verify:
        eosctl config lint reports it no longer.
    """
    for entry in case.deployment.of(Role.ACCESS_RULE):
        name, pattern = entry.value("resource.name"), (entry.word("pattern.type") or "literal").lower()
        if name.word is not None and name.word != "*" and name.word.endswith("*") and pattern == "literal":
            yield problem(
                entry,
                (name,),
                f"{name.word} is compared literally: no resource is called that.",
                impact="The rule grants nothing.",
                remedy=f"Set patternType: prefix and the name {name.word.rstrip('*')}.",
            )
