"""One event a line, for people and for programs that follow logs."""

from __future__ import annotations

from typing import Final

from eosctl.model.log_event import LogEvent
from eosctl.render.logs.report import event_view
from eosctl.render.machine import render_json_line
from eosctl.render.page import PLAIN, Line, Style, render_page
from eosctl.text import time_text

_TONES: Final = {"critical": "red", "act": "red", "watch": "yellow"}


def event_json(event: LogEvent) -> str:
    """Spell an event as a JSON object on one line."""
    return render_json_line(event_view(event))


def event_text(event: LogEvent, weight: str, style: Style = PLAIN) -> str:
    """Spell an event for people, by how much its category matters: benign, watch, act, critical."""
    moment = "no time" if event.time_ms is None else time_text(event.time_ms)
    thrown = event.exception
    cause = f"  [{thrown.root_class.rpartition('.')[2]}]" if thrown is not None else ""
    text = f"{moment}  {event.category}  {event.application}  {event.message}{cause}  {event.file}:{event.line}"
    return render_page([Line(text, _TONES.get(weight, ""))], style)


def render_event(event: LogEvent, weight: str, style: Style = PLAIN, *, as_json: bool) -> str:
    """Render an event as JSON, or for people."""
    return event_json(event) if as_json else event_text(event, weight, style)
