"""Group error records that are not in the catalog by logger and template: their effect was not judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from eosctl.logs.digest.templates import template_of
from eosctl.logs.incidents.quotes import quote_record
from eosctl.model.log_event import FATAL_LEVELS, UNCLASSIFIED, LogEvent
from eosctl.model.log_evidence import UnexplainedRecords
from eosctl.model.severity import Severity
from eosctl.model.verdict import Resource

TEMPLATES_OF_A_LOGGER: Final = 20
"""Above this number, all errors of a logger form one group: its messages contain values that the template keeps."""
QUOTED: Final = 3
_MEANING: Final = "this error is not in the log catalog, so its effect on transactions was not judged"
_NEXT_STEP: Final = "Read the quoted records and the lines around them; find the cause in the program that wrote them."


def group_unknown_errors(events: Iterable[LogEvent]) -> tuple[UnexplainedRecords, ...]:
    """Group unknown errors by severity, logger, and template: fatal ones first, then the earliest.

    A record of level FATAL or CRITICAL is a warning, any other is information.
    """
    loggers: dict[tuple[Severity, Resource], dict[str, list[LogEvent]]] = {}
    for event in events:
        severity = Severity.WARNING if event.level in FATAL_LEVELS else Severity.INFO
        templates = loggers.setdefault((severity, _resource(event)), {})
        templates.setdefault(template_of(event.message), []).append(event)
    found = []
    for (severity, resource), templates in loggers.items():
        if len(templates) > TEMPLATES_OF_A_LOGGER:
            templates = {"": [event for group in templates.values() for event in group]}
        found += [_group(severity, resource, template, group) for template, group in templates.items()]
    return tuple(sorted(found, key=lambda one: (one.severity.rank, one.first_ms or 0)))


def _resource(event: LogEvent) -> Resource:
    return Resource("logger", event.logger) if event.logger else Resource("application", event.application)


def _group(severity: Severity, resource: Resource, template: str, events: Sequence[LogEvent]) -> UnexplainedRecords:
    times = [event.time_ms for event in events if event.time_ms is not None]
    ordered = sorted(events, key=lambda event: event.time_ms or 0)
    return UnexplainedRecords(
        category=UNCLASSIFIED,
        severity=severity,
        resource=resource,
        record_count=len(events),
        first_ms=min(times, default=None),
        last_ms=max(times, default=None),
        records=tuple(quote_record(event) for event in ordered[:QUOTED]),
        meaning=_MEANING,
        next_step=_NEXT_STEP,
        names=(("template", template),) if template else (),
    )
