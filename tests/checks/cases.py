"""The YAML cases of every check: fragments of a healthy cluster's snapshot, and what the check must say."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import yaml

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


def base() -> dict[str, Any]:
    """Return the healthy cluster as plain data."""
    loaded: dict[str, Any] = yaml.safe_load((FIXTURES / "base.yaml").read_text())
    return loaded


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
        for case in yaml.safe_load(path.read_text())["cases"]
    ]


def all_cases() -> list[CheckCase]:
    return [case for path in sorted(FIXTURES.glob("EOS-*.yaml")) for case in cases_of(path)]
