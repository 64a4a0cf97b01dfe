"""Interfaces of the writers of decoded logs; decoders are independent of the format."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from eosctl.analysis.decode.outcomes import Outcome
from eosctl.storage.scan import LogBatch, LogRun
from eosctl.wire.records.header import BatchHeader
from eosctl.wire.records.record import Record


class RecordWriter(Protocol):
    """Writes batches with their records; each method returns complete lines."""

    def start(self, file: str, base_offset: int) -> str:
        """Return the text before a file."""

    def batch(self, batch: LogBatch, state: str) -> str:
        """Return a batch's line; `state` is its kind or the outcome of its transaction."""

    def record_lines(self, batch: LogBatch) -> str | None:
        """Return the lines of a batch's records if they need no decoding; None to decode them and call `records`."""

    def records(self, batch: LogBatch, records: Iterable[Record]) -> str:
        """Return the lines of a batch's records."""

    def damage(self, file: str, position: int, kind: str, what: str, resumes_at: int | None) -> str:
        """Return the line for a damaged range."""


class LogWriter(RecordWriter, Protocol):
    """Writes the content of logs."""

    def head(self) -> str:
        """Return the text before all files."""

    def run(self, run: LogRun) -> str:
        """Return the lines of several batches, each with the state from its own header."""


class DumpWriter(RecordWriter, Protocol):
    """Writes a log as Kafka's dump tool does."""

    #: Text for standard error.
    remarks: list[str]

    def end(self, invalid_bytes: int, name: str) -> str:
        """Return the text after a file's batches."""


class RowWriter(Protocol):
    """Writes the rows of an internal topic."""

    def head(self) -> str:
        """Return the text before all rows."""

    def row(self, file: str, row: dict[str, Any]) -> str:
        """Return a row's line."""

    def damage(self, file: str, position: int, what: str) -> str:
        """Return the line for a damaged range."""


class StateLines(Protocol):
    """Writes records of an internal topic; `start` is called first."""

    def start(self, file: str) -> None:
        """Set the file name for the following lines."""

    def of(self, record: Record, header: BatchHeader, outcome: Outcome) -> str | None:
        """Return a record's line; None if the general decoder is needed."""

    def learn(self, record: Record, row: dict[str, Any]) -> None:
        """Cache the general decoder's result for a record."""
