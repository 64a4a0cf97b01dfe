"""What turns decoded logs into text; the decoders call it, and know no format."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from eosctl.analysis.decode.outcomes import Outcome
from eosctl.storage.scan import LogBatch, LogRun
from eosctl.wire.records.header import BatchHeader
from eosctl.wire.records.record import Record


class RecordWriter(Protocol):
    """Writes batches with their records; each method returns whole lines."""

    def start(self, file: str, base_offset: int) -> str:
        """Return what stands before a file."""

    def batch(self, batch: LogBatch, state: str) -> str:
        """Return a batch's line; `state` says what it is or what became of its transaction."""

    def records(self, batch: LogBatch, records: Iterable[Record]) -> str:
        """Return the lines of a batch's records."""

    def damage(self, file: str, position: int, kind: str, what: str, resumes_at: int | None) -> str:
        """Return the line for a place that cannot be read."""


class LogWriter(RecordWriter, Protocol):
    """Writes what logs hold."""

    def head(self) -> str:
        """Return what stands before everything."""

    def run(self, run: LogRun) -> str:
        """Return the lines of several batches, each with what it says of itself for its state."""

    def record_lines(self, batch: LogBatch) -> str | None:
        """Return the lines of a batch's records where that needs no decoder; None: decode them, call `records`."""


class DumpWriter(RecordWriter, Protocol):
    """Writes one log as Kafka's dump tool does."""

    #: What belongs on standard error.
    remarks: list[str]

    def end(self, invalid_bytes: int, name: str) -> str:
        """Return what stands behind a file's batches."""


class RowWriter(Protocol):
    """Writes the rows of an internal topic."""

    def head(self) -> str:
        """Return what stands before everything."""

    def row(self, file: str, row: dict[str, Any]) -> str:
        """Return a row's line."""

    def damage(self, file: str, position: int, what: str) -> str:
        """Return the line for a place that cannot be read."""


class StateLines(Protocol):
    """Writes records of one internal topic; `start` comes first."""

    def start(self, file: str) -> None:
        """Take the file that every line names."""

    def of(self, record: Record, header: BatchHeader, outcome: Outcome) -> str | None:
        """Return a record's line, None where the general decoder has to look."""

    def learn(self, record: Record, row: dict[str, Any]) -> None:
        """Remember what the general decoder made of a record."""
