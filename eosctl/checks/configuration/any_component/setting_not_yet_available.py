"""EOS-CFG-141."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.any_component.removed_setting import is_own
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import PYTHON_CLIENTS, Client, Component, Deployment
from eosctl.model.severity import Severity
from eosctl.text import release_text

_REFUSE: Final = (Client.LIBRDKAFKA, *PYTHON_CLIENTS)
"""The clients that are not created with a setting that they do not know."""
_ALWAYS_READ: Final = frozenset({"config.providers"})
"""What ``AbstractConfig`` reads itself, also where the component's own definition does not list it yet."""


@check(
    "EOS-CFG-141",
    "Setting of a later release",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(),
    reads=(),
    tags=("upgrade",),
    references=("org.apache.kafka.common.config.ConfigDef", "librdkafka CONFIGURATION.md"),
)
def setting_not_yet_available(case: Case) -> Iterator[Problem]:
    """Find settings of later releases than the one that runs.

    What it checks:
        Written settings against the table of their component, where the release is named by the file or the user
        (--kafka-version, --client-version, --librdkafka-version), or pinned by the project's list of dependencies. What
        another part of the same application knows in that release is left to it.

    Why it matters for exactly-once:
        Java clients and brokers ignore what they do not know, so the protection is not there; librdkafka and
        Python's clients refuse to make a client.

    Example:
        transactional.id with librdkafka 1.3; exactly.once.source.support on a worker of 3.2.

    Fix:
        Upgrade the component, or remove the setting.

    Verify:
        eosctl config lint reports it no longer.
    """
    for component in case.deployment.components:
        table = case.deployment.table(component)
        if table is None or not component.release_named or component.release < table.first:
            continue
        for name, value in component.given.items():
            parameter = table.parameters.get(name)
            since = parameter.spans[0].since if parameter is not None else table.first
            if (
                name in _ALWAYS_READ
                or component.release >= since
                or not is_own(value, name)
                or _is_known_nearby(case.deployment, component, name)
            ):
                continue
            refused = component.client in _REFUSE
            yield problem(
                component,
                (value,),
                f"{value.key} came with {table.software} {release_text(since)}; "
                f"here runs {release_text(component.release)}.",
                severity=Severity.ERROR if refused else None,
                impact="The client is not created." if refused else "It is ignored.",
                remedy="Upgrade, or remove it.",
            )


def _is_known_nearby(deployment: Deployment, component: Component, name: str) -> bool:
    """Return whether another part of the application takes the setting in its release."""
    return any(
        other.application == component.application
        and name in other.given
        and (table := deployment.table(other)) is not None
        and (parameter := table.parameters.get(name)) is not None
        and parameter.at(other.release) is not None
        for other in deployment.components
        if other is not component
    )
