"""Incidents that logs tell of, as evidence of a snapshot: each with the records it rests on, quoted."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from eosctl.model.incident import Incident


class LoggedRecord(NamedTuple):
    """A record that an incident rests on.

    Attributes:
        place: File and line, ``server.log:812``; without a line where it is not known.
        at_ms: When it was written, ms since the epoch, UTC; None where the record carries no time.
        category: What kind of record it is, by the catalogue of logs.
        text: The message, cut.
    """

    place: str
    at_ms: int | None
    category: str
    text: str


class LoggedIncident(msgspec.Struct, frozen=True):
    """An incident with its records, earliest first."""

    incident: Incident
    records: tuple[LoggedRecord, ...] = ()
