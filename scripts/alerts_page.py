"""The page of the alerts, with a section for each; its anchors are the alerts' `runbook_url`."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.monitoring.alerts import AlertRule, load_alerts

_INTRODUCTION = """\
# Alerts

Each alert of `eosctl metrics export rules` has a section here: what it means, when it fires, and what to do. The
annotation `runbook_url` of a firing alert leads to its section. The project publishes no site, so name the place of
your copy:

```console
$ eosctl metrics export rules --runbook-url https://wiki.example.com/alerts.html --output-file eosctl-rules.yaml
```

An address that ends in `/` gets the alert's name in lower case instead of an anchor.
[How to install the rules](exports.md), [which fault shows which alert](alert-proofs.md).

A state that outlasts the broker that reports it keeps its alert firing for the time under *keeps*: the series of a
broker end while it is away, and the exporter finds its partitions undecided. This needs Prometheus 2.42 or later.
"""


def render_alerts_page() -> str:
    """Return the page."""
    alerts = load_alerts()
    return "\n".join([_INTRODUCTION, *_table(alerts), *(line for alert in alerts for line in _section(alert))])


def _table(alerts: tuple[AlertRule, ...]) -> Iterator[str]:
    yield "| Alert | Severity | After | Keeps | Reads |"
    yield "|---|---|---|---|---|"
    for alert in alerts:
        source = "exporter" if "eosctl_" in alert.expression else "beans"
        link = f"[{alert.name}](#{alert.anchor})"
        yield f"| {link} | {alert.severity} | {_hold(alert)} | {alert.keep or '-'} | {source} |"
    yield ""


def _section(alert: AlertRule) -> Iterator[str]:
    yield from (f"## {alert.name}", "", alert.description, "")
    held = "" if alert.hold == "0m" else f" for {alert.hold}"
    keeps = f", and keeps firing for {alert.keep} after that" if alert.keep else ""
    yield f"Severity {alert.severity}. It fires when this holds{held}{keeps}:"
    yield from ("", "```text", alert.expression, "```", "")
    yield from (f"1. {_command(alert.next_step)}", *(f"1. {step}" for step in alert.steps))
    if alert.runbook:
        yield f"1. Follow the runbook: `eosctl runbook run {alert.runbook}`."
    yield ""


def _hold(alert: AlertRule) -> str:
    return "immediately" if alert.hold == "0m" else alert.hold


def _command(step: str) -> str:
    """Return a step with its command as code."""
    command, separator, rest = step.partition(";")
    is_command = command.startswith("eosctl ") and "," not in command
    return f"`{command}`{separator}{rest}." if is_command else f"{step[0].upper()}{step[1:]}."
