"""Define a record of a log, and its classification."""

from __future__ import annotations

from collections.abc import Mapping
from mmap import mmap
from typing import NamedTuple

from eosctl.model.event_names import EventCategory, EventField
from eosctl.model.log_event import LoggedException

Buffer = bytes | mmap
"""A log, or a part of it, in memory or mapped."""
SHELL = "shell"
"""The application of what a command printed in a pasted session, which has no time of its own."""


class Record(NamedTuple):
    """One log record, before its classification.

    Attributes:
        offset: The position of its header.
        line: The header's line, from 0, counted from the start of the scan.
        time: The timestamp as printed; empty without one.
        level: The level in upper case; empty without one.
        thread: The thread.
        logger: The logger.
        application: The application, if the record names it.
        message: The header line's message.
        rest: The text after the header line: a stack trace, further lines.
        truncated: Whether the record was truncated.
        undecodable: Whether bytes were not UTF-8.
        matched: False for text before the first header.
        key: The key of its form, see ``forms.key_of``; empty if digits decide.
        passed_count: The number of irrelevant records between the previous record and this one.
        host: The machine, if the record names it.
        is_only_work: Whether the record can only be a report of work, or irrelevant.
    """

    offset: int
    line: int
    time: str
    level: str
    thread: str
    logger: str
    application: str
    message: str
    rest: str
    truncated: bool = False
    undecodable: bool = False
    matched: bool = True
    key: bytes = b""
    passed_count: int = 0
    host: str = ""
    is_only_work: bool = False

    @property
    def thrown_text(self) -> str:
        """The text that may hold a stack trace: all of a record without a header, else the lines below the header."""
        return self.rest if self.matched or not self.rest else f"{self.message}\n{self.rest}"


class Classified(NamedTuple):
    """The classification of a record: category, fields, throwable, and the message with masked secrets."""

    category: EventCategory
    fields: Mapping[EventField, str]
    exception: LoggedException | None
    message: str
