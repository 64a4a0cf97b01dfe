"""Export configurations of monitoring programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import Any
from urllib.parse import SplitResult, urlsplit

from eosctl.errors import UsageError
from eosctl.model.metric import SeriesNames
from eosctl.model.redaction import redact_text
from eosctl.monitoring.alerts import ALERTS_PAGE, named_rules, rules_document
from eosctl.monitoring.dashboard import dashboard_document, named_panels
from eosctl.monitoring.exports import jmx_exporter_document, otel_document, strimzi_documents
from eosctl.monitoring.naming import load_naming
from eosctl.services.callbacks import SILENT, Callbacks


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
    names: SeriesNames = SeriesNames.EOSCTL,
    callbacks: Callbacks = SILENT,
) -> tuple[Any, ...]:
    """Return the documents of a configuration.

    Args:
        target: The program to configure.
        to_yaml: Writes a document as YAML, because Strimzi embeds one.
        targets: For the collector: the exporters to scrape, as ``HOST:PORT``.
        faster: For rules: the divisor of holds and windows.
        names: For rules and the dashboard: the configuration whose series they read.
        callbacks: Receive what is left out, as the configuration does not export its series.
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
    if names is not SeriesNames.EOSCTL and target not in (Target.RULES, Target.GRAFANA):
        raise UsageError(
            f"--names does not go with {target.value}.",
            "Only rules and the dashboard read series.",
            "Leave it out.",
        )
    page = runbook_url or ALERTS_PAGE
    match target:
        case Target.RULES:
            _remark(named_rules(names).left_out, names, callbacks)
            return (rules_document(faster, page, names),)
        case Target.JMX_EXPORTER:
            return (jmx_exporter_document(),)
        case Target.GRAFANA:
            _remark(named_panels(names).left_out, names, callbacks)
            return (dashboard_document(names),)
        case Target.STRIMZI:
            return tuple(strimzi_documents(to_yaml(jmx_exporter_document()), page))
        case Target.OTEL:
            _check(targets)
            return (otel_document(list(targets)),)


def _remark(left_out: Iterable[tuple[str, str]], names: SeriesNames, callbacks: Callbacks) -> None:
    naming = load_naming(names)
    for name, series in left_out:
        title = "the configuration" if naming is None else naming.title
        callbacks.remark(f"left out: {name} (not exported with {title}: {series})")


def _check_runbook_url(target: Target, url: str) -> None:
    if target not in (Target.RULES, Target.STRIMZI):
        raise UsageError(f"--runbook-url does not go with {target.value}.", "Only alerts link to it.", "Leave it out.")
    try:
        parts = urlsplit(url)
    except ValueError:  # Such as a bracket that is not closed.
        parts = SplitResult("", "", "", "", "")
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
