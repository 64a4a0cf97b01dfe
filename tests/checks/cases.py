"""The YAML cases of every check: fragments of a healthy cluster's snapshot, and what the check must say."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import yaml

from eosctl.findings.diagnosis import CheckResult
from eosctl.findings.finding import Finding
from eosctl.model.limits import Limits
from eosctl.model.snapshot import ClusterSnapshot

FIXTURES = Path(__file__).parent.parent / "fixtures" / "checks"


class CheckCase(NamedTuple):
    """One case of one check."""

    check_id: str
    name: str
    expect: str
    snapshot: ClusterSnapshot
    limits: Limits
    reason: str
    incomplete: bool
    findings: list[dict[str, Any]]

    def __str__(self) -> str:
        return f"{self.check_id}: {self.name}"


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a file of cases, by libyaml where it is there: every test worker reads all of them."""
    loaded: dict[str, Any] = yaml.load(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return loaded


@cache
def base() -> dict[str, Any]:
    """Return the healthy cluster as plain data."""
    return read_yaml(FIXTURES / "base.yaml")


def build(fragment: dict[str, Any]) -> ClusterSnapshot:
    """Return the healthy cluster with some top-level keys replaced."""
    return msgspec.convert(base() | fragment, ClusterSnapshot)


def cases_of(path: Path) -> list[CheckCase]:
    return [
        CheckCase(
            path.stem,
            case["name"],
            case["expect"],
            build(case.get("snapshot", {})),
            Limits(**case.get("limits", {})),
            case.get("reason", ""),
            case.get("incomplete", False),
            case.get("findings", []),
        )
        for case in read_yaml(path)["cases"]
    ]


@cache
def all_cases() -> tuple[CheckCase, ...]:
    return tuple(case for path in sorted(FIXTURES.glob("EOS-*.yaml")) for case in cases_of(path))


def differences(result: CheckResult, case: CheckCase) -> list[str]:
    """Return what a check says otherwise than its case expects; nothing when it is right."""
    places = [str(finding.resource) for finding in result.findings]
    compared = [
        ("status", result.status.value, case.expect),
        ("incomplete", result.incomplete, case.incomplete),
        ("resources", places, [expected["resource"] for expected in case.findings]),
    ]
    found = [f"{name}: {said}, expected {wanted}" for name, said, wanted in compared if said != wanted]
    if case.reason not in result.reason:
        found.append(f"reason: {result.reason!r}, expected {case.reason!r}")
    if found:
        return found
    return [one for pair in zip(result.findings, case.findings, strict=True) for one in _differences(*pair)]


def _differences(finding: Finding, expected: dict[str, Any]) -> Iterator[str]:
    said = _everything_said(finding)
    yield from (f"{words!r} is not said in {said!r}" for words in expected.get("says", ()) if words not in said)
    for name, value in (("severity", finding.severity.value), ("confidence", finding.confidence.value)):
        if value != expected.get(name, value):
            yield f"{name}: {value}, expected {expected[name]}"
    if expected.get("command", "") not in "\n".join(command.line for command in finding.commands):
        yield f"no command has {expected['command']}"
    lines = [command.line for command in finding.commands]
    if lines != expected.get("commands", lines):
        yield f"commands: {lines}, expected {expected['commands']}"
    facts = dict(finding.facts)
    for name, value in expected.get("facts", {}).items():
        if facts.get(name) != value:
            yield f"fact {name}: {facts.get(name)}, expected {value}"


def _everything_said(finding: Finding) -> str:
    facts = [f"{evidence.source}: {evidence.name} {evidence.value}" for evidence in finding.evidence]
    return "\n".join([finding.message, finding.cause, finding.impact, *finding.remedy, *facts])
