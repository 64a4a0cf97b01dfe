"""A record of a log: as it is printed, and what it means."""

from __future__ import annotations

from collections.abc import Mapping
from mmap import mmap
from typing import NamedTuple

from eosctl.model.log_event import LoggedException

Buffer = bytes | mmap
"""A log, or a part of it, in memory or mapped."""


class Record(NamedTuple):
    """One log record, not yet understood.

    Attributes:
        offset: Where its header starts.
        line: The header's line, from 0, counted from the start of what was scanned.
        time: The stamp as printed; empty without one.
        level: In upper case; empty without one.
        thread: The thread.
        logger: The logger.
        application: The application, where the record names it.
        message: The header line's message.
        rest: What follows the header line: stack trace, further lines.
        truncated: Whether the record was cut.
        undecodable: Whether bytes were not UTF-8.
        matched: False for text in front of the first header.
        key: What it shares with the records of its form, see ``forms.key_of``; empty where digits decide.
        passed_count: How many records that nobody wants lie between it and the one before it.
        host: The machine, where the record names it.
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


class Classified(NamedTuple):
    """What a record means: category, the values in it, its throwable, and its message with secrets masked."""

    category: str
    fields: Mapping[str, str]
    exception: LoggedException | None
    message: str
