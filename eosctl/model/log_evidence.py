"""Evidence from logs in a snapshot: incidents, and unexplained records, with quotes."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from eosctl.model.incident import Incident
from eosctl.model.log_event import UNCLASSIFIED
from eosctl.model.severity import Severity
from eosctl.model.verdict import Resource


class LoggedRecord(NamedTuple):
    """A record that supports an incident."""

    place: str
    at_ms: int | None
    category: str
    text: str


class LoggedIncident(msgspec.Struct, frozen=True):
    """An incident with its records, earliest first."""

    incident: Incident
    records: tuple[LoggedRecord, ...] = ()


class UnexplainedRecords(msgspec.Struct, frozen=True):
    """Actionable records of a category and subject without an incident that explains them."""

    category: str
    severity: Severity
    resource: Resource
    record_count: int
    first_ms: int | None
    last_ms: int | None
    records: tuple[LoggedRecord, ...]
    meaning: str
    next_step: str
    names: tuple[tuple[str, str], ...] = ()

    @property
    def is_unknown(self) -> bool:
        """Return whether the catalog does not know the records."""
        return self.category == UNCLASSIFIED
