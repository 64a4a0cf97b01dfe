"""Alert and recording rules (`alerts.toml`), and the Prometheus rules file."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources
from typing import Any, Final, NamedTuple

from eosctl.model.metric import SeriesNames
from eosctl.monitoring.naming import Renamed, load_naming, rename

ALERTS_PAGE: Final = "docs/metrics/alerts.md"
"""The page of the alerts in the source tree; where it is published, only its publisher knows."""
_WINDOW: Final = re.compile(r"\[(\w+)\]")
_DURATION: Final = re.compile(r"(\d+)([smh])")
_UNITS_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000}


class AlertRule(NamedTuple):
    """An alert.

    Attributes:
        name: Its name in Prometheus.
        expression: PromQL.
        hold: How long the expression must hold, as a Prometheus duration.
        severity: `critical` pages someone, `warning` can wait until the morning.
        summary: A sentence with Prometheus templates.
        description: What it means, and who is affected.
        next_step: The first action.
        steps: The actions after it.
        runbook: The runbook of the library that handles it; empty for none.
        details: A continuation of the description with Prometheus templates; empty for none.
        keep: How long it fires after the expression no longer holds; empty for not at all (Prometheus 2.42).
    """

    name: str
    expression: str
    hold: str
    severity: str
    summary: str
    description: str
    next_step: str
    steps: tuple[str, ...]
    runbook: str = ""
    details: str = ""
    keep: str = ""

    @property
    def anchor(self) -> str:
        """The anchor of its section on the page of the alerts."""
        return self.name.lower()


class RecordingRule(NamedTuple):
    """A series computed by Prometheus."""

    name: str
    expression: str


@cache
def load_alerts() -> tuple[AlertRule, ...]:
    """Return the alerts in file order."""
    return tuple(
        AlertRule(
            name=one["name"],
            expression=_one_line(one["expr"]),
            hold=one["for"],
            severity=one["severity"],
            summary=one["summary"],
            description=one["description"],
            next_step=one["next"],
            steps=tuple(one["steps"]),
            runbook=one.get("runbook", ""),
            details=one.get("details", ""),
            keep=one.get("keep_firing_for", ""),
        )
        for one in _load()["alert"]
    )


@cache
def load_recordings() -> tuple[RecordingRule, ...]:
    """Return the recording rules in file order."""
    return tuple(RecordingRule(one["name"], _one_line(one["expr"])) for one in _load()["record"])


def _load() -> dict[str, Any]:
    return tomllib.loads((resources.files("eosctl.monitoring") / "alerts.toml").read_text(encoding="utf-8"))


def _one_line(expression: str) -> str:
    return " ".join(expression.split())


class NamedRules(NamedTuple):
    """The rules on the series of a configuration.

    Attributes:
        records: The recording rules.
        alerts: The alerts.
        left_out: The alerts that need a series which the configuration does not export, each with that series.
    """

    records: tuple[RecordingRule, ...]
    alerts: tuple[AlertRule, ...]
    left_out: tuple[tuple[str, str], ...]


def named_rules(names: SeriesNames = SeriesNames.EOSCTL) -> NamedRules:
    """Return the rules on the series of a configuration."""
    naming = load_naming(names)
    records: list[RecordingRule] = []
    absent: dict[str, str] = {}
    for record in load_recordings():
        replacement = None if naming is None else naming.records.get(record.name)
        found = Renamed(_one_line(replacement)) if replacement else rename(record.expression, naming)
        if found.missing:
            absent[record.name] = found.missing[0]
        else:
            records.append(record._replace(expression=found.expression))
    alerts: list[AlertRule] = []
    left_out: list[tuple[str, str]] = []
    for alert in load_alerts():
        renamed = rename(alert.expression, naming)
        needed = [series for name, series in absent.items() if name in alert.expression]
        if missing := (*renamed.missing, *needed):
            left_out.append((alert.name, missing[0]))
        else:
            alerts.append(alert._replace(expression=renamed.expression))
    return NamedRules(tuple(records), tuple(alerts), tuple(left_out))


def rules_document(
    faster: int = 1, runbook_url: str = ALERTS_PAGE, names: SeriesNames = SeriesNames.EOSCTL
) -> dict[str, Any]:
    """Return the content of a Prometheus rules file; recording rules come first, since the alerts use them.

    Args:
        faster: Divisor of holds and windows for tests in a lab; limits are unchanged.
        runbook_url: The address of the page of the alerts; with a slash at the end, that of a folder with a page each.
        names: The configuration whose series the rules read.
    """
    rules = named_rules(names)
    records = [{"record": rule.name, "expr": _hurried(rule.expression, faster)} for rule in rules.records]
    alerts = [
        {
            "alert": rule.name,
            "expr": _hurried(rule.expression, faster),
            "for": _shortened(rule.hold, faster),
            **({"keep_firing_for": _shortened(rule.keep, faster)} if rule.keep else {}),
            "labels": {"severity": rule.severity},
            "annotations": {
                "summary": rule.summary,
                "description": f"{rule.description} {rule.details}".rstrip(),
                "next": rule.next_step,
                "runbook_url": f"{runbook_url}{'' if runbook_url.endswith('/') else '#'}{rule.anchor}",
            },
        }
        for rule in rules.alerts
    ]
    return {"groups": [{"name": "eosctl", "rules": [*records, *alerts]}]}


def _hurried(expression: str, faster: int) -> str:
    return _WINDOW.sub(lambda window: f"[{_shortened(window[1], faster)}]", expression)


def _shortened(duration: str, faster: int) -> str:
    if faster == 1:
        return duration
    found = _DURATION.fullmatch(duration)
    if found is None:
        raise ValueError(f"alerts.toml: {duration!r} is not a duration")
    return f"{int(found[1]) * _UNITS_MS[found[2]] // faster}ms"
