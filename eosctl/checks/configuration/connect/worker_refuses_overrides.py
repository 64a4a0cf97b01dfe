"""EOS-CFG-114."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Deployment, Role
from eosctl.model.severity import Severity
from eosctl.settings.platforms.application_files import project_of

_OVERRIDES: Final = ("producer.override.", "consumer.override.", "admin.override.")


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
        Settings with producer.override., consumer.override., or admin.override. in a connector, with workers of its
        project, or of the only project that has some, whose connector.client.config.override.policy is None. Up to 2.8
        that is the default, since 3.0 it is All.

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
        for connector in _near(case.deployment, worker):
            found = (v for name, v in connector.given.items() if name.startswith(_OVERRIDES))
            override = next(found, None)
            if override is not None:
                yield problem(
                    connector,
                    (override, policy),
                    f"{override.key} is refused: the policy of {worker.name} is {policy.word}.",
                    impact="Connect refuses the connector.",
                    remedy="Set connector.client.config.override.policy=All on every worker.",
                )


def _near(deployment: Deployment, worker: Component) -> Iterator[Component]:
    """Yield the connectors of a worker's project, and those of projects without workers if it is the only one."""
    projects = {project_of(one.place.file) for one in deployment.of(Role.CONNECT_WORKER)}
    own = project_of(worker.place.file)
    for connector in deployment.of(Role.SINK_CONNECTOR, Role.SOURCE_CONNECTOR):
        project = project_of(connector.place.file)
        if project == own or (len(projects) == 1 and project not in projects):
            yield connector
