"""EOS-CFG-105."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem, use_of
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role, Value
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-105",
    "Two consumers of a group have the same static member id",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.CONSUMER,),
    reads=(
        "group.instance.id",
        "group.id",
    ),
    references=("KIP-345",),
)
def static_member_twice(case: Case) -> Iterator[Problem]:
    """Find consumers that fence each other because they claim to be the same static member.

    What it checks:
        Equal group.instance.id of consumers with the same group.id in two configurations that are given together.

    Why it matters for exactly-once:
        The member that joins last fences the other one with FENCED_INSTANCE_ID. In a consume-transform-produce
        application the loser's transaction is left open until its timeout.

    Example:
        A configuration that was copied for a second instance with its group.instance.id.

    Fix:
        Give each instance an id of its own, the same after a restart.

    Verify:
        eosctl config lint reports it no longer.
    """
    first: dict[tuple[str, str], tuple[Component, Value]] = {}
    for consumer in case.deployment.of(Role.CONSUMER):
        instance, group = consumer.value("group.instance.id"), consumer.value("group.id")
        if not instance.word or not group.word:
            continue
        owner, other = first.setdefault((group.word, instance.word), (consumer, instance))
        if owner.application != consumer.application:
            yield problem(
                consumer,
                (instance, other),
                f"{instance.key}={instance.word} of group {group.word} is {use_of(instance, other)}.",
                impact="The member that joins last fences the other.",
                remedy="Give each instance an id of its own.",
            )
