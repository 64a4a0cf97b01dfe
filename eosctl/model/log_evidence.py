"""What logs show, as evidence of a snapshot: incidents, and records that no incident explains, with quotes."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from eosctl.model.incident import Incident
from eosctl.model.log_event import UNCLASSIFIED
from eosctl.model.severity import Severity
from eosctl.model.verdict import Resource


class LoggedRecord(NamedTuple):
    """A record that an incident rests on.

    Attributes:
        place: File and line, `server.log:812`; without a line where it is not known.
        at_ms: It was written, ms since the epoch, UTC; None if the record carries no time.
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


class UnexplainedRecords(msgspec.Struct, frozen=True):
    """Records of one category and subject that call for action and that no incident explains.

    Errors that the catalogue does not know have the category `UNCLASSIFIED`; their subject is the logger.

    Attributes:
        category: The category of the log catalogue.
        severity: How much the category matters.
        resource: The subject: a partition, a transaction, a group, a broker, or the application that wrote the records.
        record_count: How many records there are.
        first_ms: The first was written, ms since the epoch, UTC; None if no record carries a time.
        last_ms: The last was written.
        records: The first and the last records, quoted.
        meaning: What the category means.
        next_step: What to do; empty if the catalogue names nothing.
        names: What the records name, by the names of log fields: `transactional_id`, `producer_id`, `partition`; of an
            unknown error, its `template`.
    """

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
        """Return whether the catalogue does not know the records."""
        return self.category == UNCLASSIFIED
