"""EOS-CFG-171."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from eosctl.checks.configuration.clients import transactional_producers
from eosctl.checks.configuration.problem import problem
from eosctl.checks.configuration.users import users_of
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role
from eosctl.model.severity import Severity

_WRITING: Final = frozenset({"write", "all"})
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
        The user of a producer with a transactional id, against the rules of the KafkaUser of that name. The user is
        named by sasl.jaas.config, or by the Secret that the producer's workload reads: Strimzi gives the Secret of a
        user its name. Users with rules elsewhere are not compared. Also a user who may write to topics and only
        describe transactional ids.

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
    for producer in transactional_producers(case.deployment):
        users = users_of(producer) or producer.secrets
        own = [rule for rule in rules if rule.word("principal") in users]
        if own and not any(_grants_an_id(rule) for rule in own):
            identity, user = producer.value("transactional.id"), own[0].value("principal")
            yield problem(
                producer,
                (identity, user),
                f"{identity.key} is given, and the access rules of {user.word} grant no transactional id.",
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
        writes = any(_kind(rule) == "topic" and rule.word("operations") and _allows_writing(rule) for rule in own)
        named = [rule for rule in own if _kind(rule) == "transactionalid" and _allows_describing(rule)]
        if writes and named and not any(map(_grants_an_id, own)):
            operations, name = named[0].value("operations"), named[0].value("resource.name")
            yield problem(
                named[0],
                (operations, name),
                f"The user may write to topics, but not with transactional id {name.word}: Write is missing.",
                impact="The producer is refused when it initializes, and no transaction begins.",
                remedy="Add Write to the operations of this rule.",
            )


def _kind(rule: Component) -> str:
    return (rule.word("resource.type") or "").lower().replace("_", "")


def _allows_describing(rule: Component) -> bool:
    operations = (rule.word("operations") or "").lower()
    return "describe" in operations and (rule.word("permission") or "allow").lower() == "allow"


def _grants_an_id(rule: Component) -> bool:
    return _kind(rule) in _KINDS and _allows_writing(rule)


def _allows_writing(rule: Component) -> bool:
    operations = {word.strip(" []\"'").lower() for word in (rule.word("operations") or "write").split(",")}
    return bool(operations & _WRITING) and (rule.word("permission") or "allow").lower() == "allow"
