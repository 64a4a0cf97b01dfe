"""EOS-CFG-171."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from eosctl.checks.configuration.clients import transactional_producers
from eosctl.checks.configuration.problem import problem
from eosctl.checks.configuration.users import AccessRules, allows, kind_of
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence

_KINDS: Final = ("transactionalid", "any")


@check(
    "EOS-CFG-171",
    "Access rules of a producer's user leave out its transactional id",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.ACCESS_RULE,),
    reads=("principal", "resource.type", "permission", "operations"),
    tags=("security",),
    references=("KIP-98",),
)
def transactional_id_not_granted(case: Case) -> Iterator[Problem]:
    """Find transactional producers that log in as a user whose access rules grant no transactional id.

    What it checks:
        The user of a producer with a transactional id, against the rules of that user, from a KafkaUser, Terraform,
        commands, or printed rules. The user is named by sasl.jaas.config, or by the Secret that the producer's
        workload reads: Strimzi gives the Secret of a user its name. Else it is the only user with the name of the
        application, or the only one that may write to its topics. Users with rules elsewhere are not compared. Also
        a user who may write to topics and only describe transactional ids.

    Why it matters for exactly-once:
        Write on the topics is not enough: the broker refuses InitProducerId with TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        and no transaction begins.

    Example:
        A KafkaUser with acls for topics alone, and username="pay" next to transactional.id=pay-1.

    Fix:
        Add a rule of type transactionalId with the operations Write and Describe, with patternType: prefix where a
        framework makes the ids.

    Verify:
        eosctl config lint reports it no longer.
    """
    rules = case.deployment.of(Role.ACCESS_RULE)
    access = AccessRules(case.deployment) if rules else None
    for producer in transactional_producers(case.deployment) if access else ():
        own, is_named = access.of(producer) if access else ((), True)
        if own and not any(_may_grant_an_id(rule) for rule in own):
            identity, user = producer.value("transactional.id"), own[0].value("principal")
            yield problem(
                producer,
                (identity, user),
                f"{f'{identity.key} is given' if identity.is_given else 'The client writes in transactions'}, "
                f"and the access rules of {user.text} grant no transactional id.",
                confidence=Confidence.CERTAIN if is_named else Confidence.LIKELY,
                impact="The producer is refused when it initializes, and no transaction begins.",
                remedy="Add a rule of type transactionalId with Write and Describe to this user.",
            )
    yield from _described_only(rules)


def _described_only(rules: Iterable[Component]) -> Iterator[Problem]:
    """Find users that may write to topics, and have rules for transactional ids without Write."""
    users: dict[tuple[str, str], list[Component]] = {}
    for rule in rules:
        users.setdefault((rule.place.file, rule.word("principal") or ""), []).append(rule)
    for own in users.values():
        writes = any(kind_of(rule) == "topic" and allows(rule, "write") for rule in own)
        named = [rule for rule in own if kind_of(rule) == "transactionalid" and _allows_describing(rule)]
        if writes and named and not any(map(_grants_an_id, own)):
            operations, name = named[0].value("operations"), named[0].value("resource.name")
            yield problem(
                named[0],
                (operations, name),
                f"The user may write to topics, but not with transactional id {name.word}: Write is missing.",
                impact="The producer is refused when it initializes, and no transaction begins.",
                remedy="Add Write to the operations of this rule.",
            )


def _allows_describing(rule: Component) -> bool:
    operations = (rule.word("operations") or "").lower()
    return "describe" in operations and (rule.word("permission") or "allow").lower() == "allow"


def _grants_an_id(rule: Component) -> bool:
    return kind_of(rule) in _KINDS and (not rule.has("operations") or allows(rule, "write"))


def _may_grant_an_id(rule: Component) -> bool:
    """Return whether a rule grants an id, or may do so where its resource or its operations are not known."""
    is_known = rule.value("resource.type").resolved and rule.value("operations").resolved
    return not is_known or _grants_an_id(rule)
