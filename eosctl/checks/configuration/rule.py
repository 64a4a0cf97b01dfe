"""How a rule over configurations is declared: a check that reads a deployment, and the settings that it judges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Final, NamedTuple

from eosctl.checks.declaration import Area, Case, Check, Problem
from eosctl.findings.finding import Command
from eosctl.model.deployment import Client, Component, Deployment, Role, Value, ValueSource
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence, Evidence, Resource

Judge = Callable[[Deployment], Iterator[Problem]]
INT_MAX: Final = 2_147_483_647


class Rule(NamedTuple):
    """A check with the roles that it looks at and the settings that it reads of them."""

    check: Check
    roles: tuple[Role, ...]
    reads: tuple[str, ...]


def rule(
    id: str,
    title: str,
    severity: Severity,
    *,
    roles: Sequence[Role],
    reads: Sequence[str],
    tags: tuple[str, ...] = (),
    references: tuple[str, ...] = (),
) -> Callable[[Judge], Rule]:
    """Declare a rule; the decorated function's docstring becomes its manual.

    Args:
        id: ``EOS-CFG-<NNN>``, never used twice.
        title: What is wrong, in a few words.
        severity: How bad it is, unless a problem says otherwise.
        roles: Without a component of one of these there is nothing to judge; none: any component will do.
        reads: The settings that decide; a placeholder in one of them leaves the rule undecided.
        tags: Words to select it by, beside the roles.
        references: KIPs and issues; the settings are added.
    """

    def declare(judge: Judge) -> Rule:
        @wraps(judge)
        def evaluate(case: Case) -> Iterator[Problem]:
            return judge(case.deployment)

        check = Check(
            id,
            title,
            Area.CONFIGURATION,
            severity,
            frozenset(),
            evaluate,
            judge.__doc__ or "",
            tags=tuple(dict.fromkeys(("configuration", *(role.value for role in roles), *tags))),
            references=(*references, *reads),
            applies=lambda case: _why_not(case.deployment, roles),
        )
        return Rule(check, tuple(roles), tuple(reads))

    return declare


def _why_not(deployment: Deployment, roles: Sequence[Role]) -> str:
    if deployment.of(*roles) if roles else deployment.components:
        return ""
    return f"no configuration of a {' or '.join(role.value for role in roles)} was given" if roles else "none was given"


def problem(
    component: Component,
    values: Sequence[Value],
    message: str,
    *,
    remedy: str,
    impact: str = "",
    cause: str = "",
    severity: Severity | None = None,
    confidence: Confidence = Confidence.CERTAIN,
    commands: tuple[Command, ...] = (),
) -> Problem:
    """Build a problem of a component.

    Args:
        component: What is configured wrongly.
        values: The settings of the judged relation, the one to change first; its line is the finding's line.
        message: What is wrong, with the numbers.
        remedy: What to do.
        impact: What happens otherwise.
        cause: Why, when it is not plain.
        severity: Where it differs from the rule's.
        confidence: How sure that is.
        commands: Commands that help. `eosctl doctor DIR` shows them, `config lint` does not, so the remedy must do.
    """
    place = next((value.place for value in values if value.place is not None), component.place)
    keys = tuple(dict.fromkeys(value.key for value in values))
    return Problem(
        resource=Resource("file", component.name),
        message=message,
        severity=severity,
        confidence=confidence,
        cause=cause,
        impact=impact,
        evidence=tuple(_evidence(component, value) for value in values),
        remedy=(remedy,),
        commands=commands,
        incident=",".join(keys),
        facts=(
            ("file", place.file),
            ("line", place.line),
            ("keys", ",".join(keys)),
            ("value", values[0].text or "") if values else ("value", ""),
            ("role", component.role.value),
        ),
    )


def _evidence(component: Component, value: Value) -> Evidence:
    software = "Kafka" if component.client is Client.JAVA else component.client.value
    release = f"{software} {component.release[0]}.{component.release[1]}"
    source = {
        ValueSource.GIVEN: str(value.place) if value.place else "given",
        ValueSource.FRAMEWORK: f"set by {component.inside or component.role}",
        ValueSource.DEFAULT: f"default of {release}",
    }[value.source]
    return Evidence(value.key, "(none)" if value.text is None else value.text, source)
