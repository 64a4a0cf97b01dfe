"""Export configurations of monitoring programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from eosctl.errors import UsageError
from eosctl.model.redaction import redact_text
from eosctl.monitoring.alerts import ALERTS_PAGE, rules_document
from eosctl.monitoring.dashboard import dashboard_document
from eosctl.monitoring.exports import jmx_exporter_document, otel_document, strimzi_documents


class Target(StrEnum):
    """The program to configure."""

    RULES = "rules"
    JMX_EXPORTER = "jmx-exporter"
    GRAFANA = "grafana"
    STRIMZI = "strimzi"
    OTEL = "otel"


def export_monitoring(
    target: Target,
    to_yaml: Callable[[Any], str],
    targets: Sequence[str] = (),
    faster: int = 1,
    runbook_url: str | None = None,
) -> tuple[Any, ...]:
    """Return the documents of a configuration.

    Args:
        target: The program to configure.
        to_yaml: Writes a document as YAML, because Strimzi embeds one.
        targets: For the collector: the exporters to scrape, as ``HOST:PORT``.
        faster: For rules: the divisor of holds and windows.
        runbook_url: For rules and Strimzi: where the page of the alerts is published; None for its place in the source
            tree.

    Raises:
        UsageError: An argument does not fit the target.
    """
    if targets and target is not Target.OTEL:
        raise UsageError(
            f"--target does not go with {target.value}.", "Only the collector needs targets to scrape.", "Leave it out."
        )
    if faster != 1 and target is not Target.RULES:
        raise UsageError(
            f"--faster does not go with {target.value}.", "Only rules have holds and windows.", "Leave it out."
        )
    if runbook_url is not None:
        _check_runbook_url(target, runbook_url)
    page = runbook_url or ALERTS_PAGE
    match target:
        case Target.RULES:
            return (rules_document(faster, page),)
        case Target.JMX_EXPORTER:
            return (jmx_exporter_document(),)
        case Target.GRAFANA:
            return (dashboard_document(),)
        case Target.STRIMZI:
            return tuple(strimzi_documents(to_yaml(jmx_exporter_document()), page))
        case Target.OTEL:
            _check(targets)
            return (otel_document(list(targets)),)


def _check_runbook_url(target: Target, url: str) -> None:
    if target not in (Target.RULES, Target.STRIMZI):
        raise UsageError(f"--runbook-url does not go with {target.value}.", "Only alerts link to it.", "Leave it out.")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.fragment or url != "".join(url.split()):
        raise UsageError(
            f"{redact_text(url)!r} is not the address of a page.",
            "Each alert links to its section there.",
            "Write e.g. https://wiki.example.com/alerts.html, or with a slash at the end for a page per alert.",
        )
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            "The address of the page has a user name or password in it.",
            "Everyone who receives an alert can read it.",
            "Leave it out.",
        )


def _check(targets: Sequence[str]) -> None:
    if not targets:
        raise UsageError(
            "The collector needs something to scrape.", "", "Add --target HOST:PORT for the exporter of each broker."
        )
    for one in targets:
        if "@" in one:
            raise UsageError(
                "A target has a user name or password in it.",
                "Other users of this machine can read the arguments of a program.",
                "Leave it out, and give the collector basic_auth with a password_file.",
            )
        host, _, port = one.rpartition(":")
        if not host or "/" in host or not port.isdigit() or not 0 < int(port) < 65536:
            raise UsageError(f"{one!r} is not HOST:PORT.", "", "Write e.g. broker-1:9404; Prometheus adds /metrics.")
