"""The alert and recording rules (``alerts.toml``), and the documents of Prometheus that hold them."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any, NamedTuple


class AlertRule(NamedTuple):
    """An alert.

    Attributes:
        name: As Prometheus and its receivers show it.
        expression: PromQL.
        hold: How long the expression must hold, as Prometheus writes durations.
        severity: ``critical`` wakes somebody up, ``warning`` can wait for the morning.
        summary: One sentence, with Prometheus' templates.
        next_step: What to do first.
    """

    name: str
    expression: str
    hold: str
    severity: str
    summary: str
    next_step: str


class RecordingRule(NamedTuple):
    """A series that Prometheus computes."""

    name: str
    expression: str


@cache
def load_alerts() -> tuple[AlertRule, ...]:
    """Return the alerts in the file's order."""
    return tuple(
        AlertRule(one["name"], _one_line(one["expr"]), one["for"], one["severity"], one["summary"], one["next"])
        for one in _load()["alert"]
    )


@cache
def load_recordings() -> tuple[RecordingRule, ...]:
    """Return the recording rules in the file's order."""
    return tuple(RecordingRule(one["name"], _one_line(one["expr"])) for one in _load()["record"])


def _load() -> dict[str, Any]:
    return tomllib.loads((resources.files("eosctl.monitoring") / "alerts.toml").read_text(encoding="utf-8"))


def _one_line(expression: str) -> str:
    return " ".join(expression.split())


def rules_document() -> dict[str, Any]:
    """Return the content of a rules file of Prometheus; records come first, because the alerts use them."""
    records = [{"record": rule.name, "expr": rule.expression} for rule in load_recordings()]
    alerts = [
        {
            "alert": rule.name,
            "expr": rule.expression,
            "for": rule.hold,
            "labels": {"severity": rule.severity},
            "annotations": {"summary": rule.summary, "next": rule.next_step},
        }
        for rule in load_alerts()
    ]
    return {"groups": [{"name": "eosctl", "rules": [*records, *alerts]}]}
