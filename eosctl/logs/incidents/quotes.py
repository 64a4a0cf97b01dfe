"""Log records as evidence: the place, the time, and the message on one line."""

from __future__ import annotations

from typing import Final

from eosctl.model.log_event import LogEvent
from eosctl.model.log_evidence import LoggedRecord

TEXT_CHARACTERS: Final = 160


def quote_record(event: LogEvent) -> LoggedRecord:
    """Return an event as evidence; a message of more than ``TEXT_CHARACTERS`` is cut."""
    text = " ".join(event.message.split())
    if len(text) > TEXT_CHARACTERS:
        text = f"{text[: TEXT_CHARACTERS - 1]}…"
    return LoggedRecord(f"{event.file}:{event.line}", event.time_ms, event.category, text)
