"""Counts of exceptions: when which class was thrown, by whom, and where the first record stands."""

from __future__ import annotations

from typing import Final

import msgspec

from eosctl.render.listing import Column
from eosctl.text import time_text


class ExceptionItem(msgspec.Struct, frozen=True, rename={"class_name": "class"}):
    """Stack traces of one minute, class, root class, application and host; ``file`` and ``offset`` name the first."""

    minute: str | None
    class_name: str
    root_class: str
    application: str
    host: str
    count: int
    file: str
    offset: int


EXCEPTION_COLUMNS: Final[tuple[Column[ExceptionItem], ...]] = (
    Column("MINUTE", lambda item: (item.minute or "no time")[:16]),
    Column("COUNT", lambda item: str(item.count)),
    Column("CLASS", lambda item: _simple(item.class_name)),
    Column("ROOT-CAUSE", lambda item: _simple(item.root_class)),
    Column("APPLICATION", lambda item: item.application),
    Column("HOST", lambda item: item.host),
    Column("FIRST", lambda item: f"{item.file}:{item.offset}"),
)


def exception_item(
    minute_ms: int | None,
    class_name: str,
    root_class: str,
    application: str,
    host: str,
    count: int,
    file: str,
    offset: int,
) -> ExceptionItem:
    """Put a count into the form that is shown."""
    minute = None if minute_ms is None else time_text(minute_ms)
    return ExceptionItem(minute, class_name, root_class, application, host, count, file, offset)


def _simple(name: str) -> str:
    return name.rpartition(".")[2]
