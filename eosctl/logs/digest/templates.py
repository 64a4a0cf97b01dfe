"""Count messages that differ only in their values, and find new ones in comparison with a baseline."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from eosctl.model.log_digest import Template
from eosctl.model.log_event import LogEvent, is_problem

_VARIABLE: Final = re.compile(
    r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"
    r"|0x[0-9a-fA-F]+|@[0-9a-f]{5,}\b|\b[0-9a-f]{12,}\b"
    r"|(?:/[\w.-]+){2,}"
    r"|(?<==)[^\s,;)\]}]+"
    r"|(?<!\w)'[^'\n]{1,80}'"
    r"|[\w.-]*\d[\w.:-]*"
)
_TEMPLATE_CHARS: Final = 240


def template_of(message: str) -> str:
    """Return a message without its values.

    >>> template_of("[Producer clientId=a-1] Failed for orders-3 after 120000 ms at /var/log/x")
    '[Producer clientId=<*>] Failed for <*> after <*> ms at <*>'
    """
    return _VARIABLE.sub("<*>", message[: 2 * _TEMPLATE_CHARS])[:_TEMPLATE_CHARS]


def find_templates(events: Iterable[LogEvent], baseline: Iterable[LogEvent] | None = None) -> tuple[Template, ...]:
    """Count warnings, errors, and throwables by template.

    Args:
        events: The events of the period.
        baseline: Events of a healthy period; None without a comparison.

    Returns:
        The templates: new ones first, then by frequency.
    """
    known = None if baseline is None else {_key(event) for event in baseline}
    groups: dict[tuple[str, str, str], list[LogEvent]] = {}
    for event in events:
        if is_problem(event):
            groups.setdefault(_key(event), []).append(event)
    found = (
        Template(
            *key,
            event_count=len(group),
            first_ms=min((event.time_ms for event in group if event.time_ms is not None), default=None),
            applications=tuple(sorted({event.application for event in group})),
            file=group[0].file,
            offset=group[0].offset,
            is_new=None if known is None else key not in known,
        )
        for key, group in groups.items()
    )
    return tuple(sorted(found, key=lambda one: (not one.is_new, -one.event_count, one.text, one.category)))


def _key(event: LogEvent) -> tuple[str, str, str]:
    return template_of(event.message), event.category, event.exception.root_class if event.exception else ""
