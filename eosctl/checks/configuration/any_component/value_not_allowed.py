"""EOS-CFG-088."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eosctl.analysis.mirror_flows import without_effect
from eosctl.checks.configuration.bounds import why_refused
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Client, Component, Deployment, Role
from eosctl.model.severity import Severity

JUDGED_ELSEWHERE: Final = frozenset({"processing.guarantee"})
_OF_CLIENT: Final = re.compile(r".+\.(?P<client>consumer|producer)\.(?P<setting>.+)")
BOUND_TO_CLIENTS: Final = frozenset({"spring.kafka.consumer.isolation-level"})


@check(
    "EOS-CFG-088",
    "Value that Kafka does not accept",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(),
    reads=(),
    references=("org.apache.kafka.common.config.ConfigDef",),
)
def value_not_allowed(case: Case) -> Iterator[Problem]:
    """Find values of the wrong type or outside of their bounds.

    What it checks:
        Every setting that the release declares, against its type and its bounds: numbers with their width,
        booleans, and choices. Of Spring Boot's and Flink's own settings the choices. Values with placeholders are
        left out.

    Why it matters for exactly-once:
        Kafka answers with a ConfigException: broker, worker or application do not start.

    Example:
        transaction.timeout.ms=60s; a timeout takes milliseconds without a unit.

    Fix:
        Write a value that the declaration allows; eosctl config explain KEY shows it.

    Verify:
        eosctl config lint reports it no longer.
    """
    seen: set[tuple[object, str]] = set()
    for component in case.deployment.components:
        table = case.deployment.table(component)
        yield from _of_mirrored_clients(case.deployment, component)
        if table is None:
            yield from _of_framework(case.deployment, component)
            continue
        for name, value in component.given.items():
            declared = table.parameters.get(name)
            if declared is None or name in JUDGED_ELSEWHERE or value.text is None or not value.resolved:
                continue
            if name in component.forced:  # the framework drops it unread
                continue
            reason = why_refused(declared, component.release, value.text, lenient=component.client is Client.LIBRDKAFKA)
            if reason and (value.place, value.key) not in seen:
                seen.add((value.place, value.key))
                yield problem(
                    component,
                    (value,),
                    f"{value.key}={value.text.strip()} is refused: {reason}.",
                    impact="It does not start (ConfigException).",
                    remedy="Correct the value.",
                )


def _of_mirrored_clients(deployment: Deployment, component: Component) -> Iterator[Problem]:
    """Judge the settings that MirrorMaker hands to the clients of a cluster: `east.consumer.isolation.level`."""
    for name, value in component.given.items() if component.role is Role.MIRROR_MAKER else ():
        match = _OF_CLIENT.match(name)
        if match is None or value.text is None or not value.resolved:
            continue
        table = deployment.tables.get(match["client"])
        declared = None if table is None else table.parameters.get(match["setting"])
        reason = why_refused(declared, component.release, value.text) if declared is not None else ""
        if reason and value.place not in {lost.place for lost in without_effect(component, match["setting"])}:
            yield problem(
                component,
                (value,),
                f"{value.key}={value.text.strip()} is refused: {reason}.",
                impact="The connector does not start (ConfigException).",
                remedy="Correct the value.",
            )


def _of_framework(deployment: Deployment, component: Component) -> Iterator[Problem]:
    """Judge the choices that a framework offers; Kafka's own settings within it are judged with its clients."""
    table = deployment.framework_table(component)
    if table is None:
        return
    for name, value in component.given.items():
        declared = table.declared(name)
        if declared is None or declared.name in BOUND_TO_CLIENTS or value.text is None or not value.resolved:
            continue
        reason = why_refused(declared, table.last, value.text) if declared.spans[-1].bounds else ""
        if reason:
            yield problem(
                component,
                (value,),
                f"{value.key}={value.text.strip()} is refused: {reason}.",
                impact="The application does not start.",
                remedy="Correct the value.",
            )
