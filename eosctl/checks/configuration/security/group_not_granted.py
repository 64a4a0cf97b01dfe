"""EOS-CFG-184."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import transactional_producers_near
from eosctl.checks.configuration.problem import problem
from eosctl.checks.configuration.users import AccessRules, allows, kind_of
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role
from eosctl.model.placeholders import may_be, may_begin_with
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence


@check(
    "EOS-CFG-184",
    "Access rules of a transactional application leave out its group",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.ACCESS_RULE,),
    reads=("group.id", "principal", "resource.type", "resource.name", "operations"),
    tags=("security",),
    references=("KIP-98",),
)
def group_not_granted(case: Case) -> Iterator[Problem]:
    """Find applications that read, write in transactions, and log in as a user without Read on their group.

    What it checks:
        The group.id of the consumer next to a transactional producer, against the rules of the producer's user, where
        these rules grant reading topics or transactional ids. A placeholder stands for some text.

    Why it matters for exactly-once:
        The broker refuses JoinGroup and AddOffsetsToTxn with GROUP_AUTHORIZATION_FAILED: offsets are not committed in
        the transaction.

    Example:
        A KafkaUser with acls for topics and a transactional id, next to an application with group.id=pay.

    Fix:
        Add a rule of type group with the operation Read.

    Verify:
        eosctl config lint reports it no longer.
    """
    rules = case.deployment.of(Role.ACCESS_RULE)
    access = AccessRules(case.deployment) if rules else None
    for consumer in case.deployment.of(Role.CONSUMER) if access else ():
        group = consumer.value("group.id")
        writers = transactional_producers_near(case.deployment, consumer) if group.is_given and group.text else ()
        if access is None or not writers or consumer.inside not in (None, Role.SPRING):
            continue
        own, is_named = access.of(writers[0])
        reads = any(kind_of(rule) == "topic" and allows(rule, "read") for rule in own)
        if reads and not any(_may_grant(rule, group.text or "") for rule in own):
            user = own[0].value("principal")
            yield problem(
                consumer,
                (group, user),
                f"{group.key} is {group.text}, and the access rules of {user.text} grant no such group.",
                confidence=Confidence.CERTAIN if is_named else Confidence.LIKELY,
                impact="The consumer is refused, and offsets are not committed in transactions.",
                remedy=f"Grant Read on the group {group.text} to this user.",
            )


def _may_grant(rule: Component, group: str) -> bool:
    """Return whether a rule grants reading with a group, or may do so where a part of it is not known."""
    kind, name, operations = rule.value("resource.type"), rule.value("resource.name"), rule.value("operations")
    if not (kind.resolved and name.resolved and operations.resolved):
        return True
    if kind_of(rule) not in ("group", "any") or not allows(rule, "read"):
        return False
    if (rule.word("pattern.type") or "literal").lower().startswith("prefix"):
        return may_begin_with(group, name.word or "")
    return name.word == "*" or may_be(group, name.word or "")
