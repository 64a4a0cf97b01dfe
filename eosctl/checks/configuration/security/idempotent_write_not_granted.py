"""EOS-CFG-182."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.analysis.minimal_access import IDEMPOTENT_WRITE_UNTIL
from eosctl.checks.configuration.clients import is_transactional
from eosctl.checks.configuration.problem import problem
from eosctl.checks.configuration.users import AccessRules, allows, kind_of
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence


@check(
    "EOS-CFG-182",
    "Access rules of an idempotent producer lack IdempotentWrite",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.ACCESS_RULE,),
    reads=("enable.idempotence", "principal", "resource.type", "operations"),
    tags=("security",),
    references=("KIP-98", "KIP-679"),
)
def idempotent_write_not_granted(case: Case) -> Iterator[Problem]:
    """Find idempotent producers without IdempotentWrite on brokers that still require it.

    What it checks:
        Producers with enable.idempotence=true, written down or by the default of a named release, and without a
        transactional id, against the rules of their user, where the brokers are of a release before 2.8. Since 2.8,
        Write on any topic is enough (KIP-679). A transactional id with Write needs no rule on the cluster.

    Why it matters for exactly-once:
        The broker refuses InitProducerId with CLUSTER_AUTHORIZATION_FAILED, and the producer sends nothing.

    Example:
        A user with Write on its topic alone, brokers of confluentinc/cp-kafka:5.5, and a client of 3.6.

    Fix:
        Grant IdempotentWrite on the cluster: kafka-acls.sh --add --cluster --operation IdempotentWrite.

    Verify:
        eosctl config lint reports it no longer.
    """
    rules = case.deployment.of(Role.ACCESS_RULE)
    access = AccessRules(case.deployment) if rules and _are_old(case) else None
    for producer in case.deployment.of(Role.PRODUCER) if access else ():
        asked = producer.value("enable.idempotence")
        is_certain = asked.is_given or producer.release_named
        if asked.flag is not True or not is_certain or is_transactional(producer):
            continue
        own, is_named = access.of(producer) if access else ((), True)
        if own and any(kind_of(rule) == "topic" for rule in own) and not any(map(_may_grant, own)):
            user = own[0].value("principal")
            yield problem(
                producer,
                (asked, user),
                f"The producer is idempotent, and the access rules of {user.text} grant no IdempotentWrite.",
                confidence=Confidence.CERTAIN if is_named else Confidence.LIKELY,
                impact="Brokers before 2.8 refuse the producer, and nothing is sent.",
                remedy="Grant IdempotentWrite on the cluster to this user.",
            )


def _are_old(case: Case) -> bool:
    """Return whether all brokers name a release that requires IdempotentWrite."""
    brokers = case.deployment.of(Role.BROKER) or case.deployment.of(Role.ACCESS_RULE)
    return all(one.release_named and one.release <= IDEMPOTENT_WRITE_UNTIL for one in brokers)


def _may_grant(rule: Component) -> bool:
    """Return whether a rule grants IdempotentWrite, or may do so where its resource or its operations are not known."""
    if not rule.value("resource.type").resolved or not rule.value("operations").resolved:
        return True
    return kind_of(rule) in ("cluster", "any") and allows(rule, "idempotentwrite", "idempotent_write")
