"""EOS-CFG-037."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-037",
    "Unclean leader election is configured",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(
        Role.BROKER,
        Role.TOPIC,
        Role.STREAMS,
    ),
    reads=("unclean.leader.election.enable", "topic.unclean.leader.election.enable"),
    tags=("durability",),
    references=("KIP-106",),
)
def unclean_leader_election_configured(case: Case) -> Iterator[Problem]:
    """Find configurations that let a replica without all records become leader.

    What it checks:
        unclean.leader.election.enable=true of brokers, topics, and of the topics that Streams creates.

    Why it matters for exactly-once:
        An unclean leader drops acknowledged records and markers; no exactly-once guarantee survives it.

    Example:
        Set to true during an incident, and committed to the repository afterwards.

    Fix:
        Set it to false, the default of Kafka since 0.11; a provider may have another default.

    Verify:
        eosctl config lint reports it no longer.
    """
    for component in case.deployment.of(Role.BROKER, Role.TOPIC, Role.STREAMS):
        prefix = "topic." if component.role is Role.STREAMS else ""
        value = component.value(f"{prefix}unclean.leader.election.enable")
        if value.is_given and value.flag is True:
            yield problem(
                component,
                (value,),
                f"{value.key} is true.",
                impact="Committed records and transaction markers can vanish with a leader.",
                remedy=f"Set {value.key}=false.",
            )
