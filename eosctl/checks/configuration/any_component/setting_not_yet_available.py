"""EOS-CFG-141."""

from __future__ import annotations

import re
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
_VERSION: Final = re.compile(r"[vV]?(\d+)[._](\d+)(?:[._]\d+){1,2}")
"""How sarama's ``Version`` is written: ``0.10.2.0``, or as the constant ``V0_10_2_0``."""
_FIRST_WITH_TRANSACTIONS: Final = (0, 11)
_OF_TRANSACTIONS: Final = {"transactional.id": None, "enable.idempotence": "true", "isolation.level": "read_committed"}
"""What sarama refuses below 0.11 (``Config.Validate``), with the value that needs it."""
_BOOTSTRAP: Final = "controller.quorum.bootstrap.servers"
_VOTERS: Final = "controller.quorum.voters"
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
        another part of the same application knows in that release is left to it. sarama's Version, which is that of
        the protocol, must be 0.11 for idempotence, transactions, and read_committed.

    Why it matters for exactly-once:
        Java clients and brokers ignore what they do not know, so the protection is not there; librdkafka,
        Python's clients, and sarama refuse to make a client.

    Example:
        transactional.id with librdkafka 1.3; exactly.once.source.support on a worker of 3.2.

    Fix:
        Upgrade the component, or remove the setting.

    Verify:
        eosctl config lint reports it no longer.
    """
    for component in case.deployment.components:
        yield from _of_sarama(component)
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
            needs_voters = name == _BOOTSTRAP and component.has("process.roles") and not component.has(_VOTERS)
            refused = component.client in _REFUSE
            yield problem(
                component,
                (value,),
                f"{value.key} came with {table.software} {release_text(since)}; "
                f"here runs {release_text(component.release)}.",
                severity=Severity.ERROR if refused or needs_voters else None,
                impact="The client is not created."
                if refused
                else f"The server does not start without {_VOTERS}."
                if needs_voters
                else "It is ignored.",
                remedy=f"Set {_VOTERS}, or upgrade." if needs_voters else "Upgrade, or remove it.",
            )


def _of_sarama(component: Component) -> Iterator[Problem]:
    """Yield what sarama refuses with a version of the protocol that is too old for it."""
    versions = (value for name, value in component.given.items() if name.rpartition(".")[2].lower() == "version")
    value = next(versions, None) if component.client is Client.SARAMA else None
    found = _VERSION.fullmatch(value.word or "") if value is not None else None
    if value is None or found is None or (int(found[1]), int(found[2])) >= _FIRST_WITH_TRANSACTIONS:
        return
    needed = next((name for name, text in _OF_TRANSACTIONS.items() if _has(component, name, text)), None)
    if needed is not None:
        setting = component.value(needed)
        yield problem(
            component,
            (value, setting),
            f"{value.key}={value.word} is the protocol of a release that has no {setting.key}.",
            severity=Severity.ERROR,
            impact="The client is not created.",
            remedy=f"Set {value.key} to the release of the brokers, 0.11.0.0 at least.",
        )


def _has(component: Component, name: str, text: str | None) -> bool:
    return component.has(name) and (text is None or component.word(name) == text)


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
