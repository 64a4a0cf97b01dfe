"""EOS-CFG-114."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-114",
    "Connector overrides a client setting that its worker forbids",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.CONNECT_WORKER,),
    reads=("connector.client.config.override.policy",),
    references=(
        "KIP-458",
        "KIP-722",
    ),
)
def worker_refuses_overrides(case: Case) -> Iterator[Problem]:
    """Find connectors whose override of a client setting is refused.

    What it checks:
        Settings with producer.override. or consumer.override. in a connector, with workers whose
        connector.client.config.override.policy is None. Up to 2.8 that is the default, since 3.0 it is All.

    Why it matters for exactly-once:
        The connector is refused. Without the override a sink reads uncommitted records.

    Example:
        consumer.override.isolation.level=read_committed with a policy of None.

    Fix:
        Set connector.client.config.override.policy=All on the workers, or consumer.isolation.level there.

    Verify:
        eosctl config lint reports it no longer.
    """
    for worker in case.deployment.of(Role.CONNECT_WORKER):
        policy = worker.value("connector.client.config.override.policy")
        if (policy.word or "").lower() != "none":
            continue
        for connector in case.deployment.of(Role.SINK_CONNECTOR, Role.SOURCE_CONNECTOR):
            found = (v for name, v in connector.given.items() if ".override." in name)
            override = next(found, None)
            if override is not None:
                yield problem(
                    connector,
                    (override, policy),
                    f"{override.key} is refused: the policy of {worker.name} is {policy.word}.",
                    impact="Connect refuses the connector.",
                    remedy="Set connector.client.config.override.policy=All on every worker.",
                )
