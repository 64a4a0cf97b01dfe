"""Counts of exceptions: when which class was thrown, by whom, and where the first record stands."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from eosctl.model.log_findings import ExceptionCount
from eosctl.render.envelope import listing
from eosctl.render.formats import OutputFormat
from eosctl.render.listing import Column, render_listing
from eosctl.render.page import Style
from eosctl.text import time_text


class ExceptionItem(msgspec.Struct, frozen=True, rename={"class_name": "class"}):
    """Stack traces of one minute, class, root class, application and host; ``file`` and ``line`` name the first.

    ``offset`` is its byte.
    """

    minute: str | None
    class_name: str
    root_class: str
    application: str
    host: str
    count: int
    file: str
    offset: int
    line: int


EXCEPTION_COLUMNS: Final[tuple[Column[ExceptionItem], ...]] = (
    Column("MINUTE", lambda item: (item.minute or "no time")[:16]),
    Column("COUNT", lambda item: str(item.count)),
    Column("CLASS", lambda item: _simple(item.class_name)),
    Column("ROOT-CAUSE", lambda item: _simple(item.root_class)),
    Column("APPLICATION", lambda item: item.application),
    Column("HOST", lambda item: item.host),
    Column("FIRST", lambda item: f"{item.file}:{item.line}" if item.line else f"{item.file}, byte {item.offset}"),
)


def render_exceptions(
    counts: Iterable[ExceptionCount], now_ms: int, output: OutputFormat, style: Style, *, is_complete: bool = True
) -> str:
    """Render counts of stack traces.

    Args:
        counts: The counts.
        now_ms: The time of the listing, ms since the epoch.
        output: The format.
        style: Width and color.
        is_complete: Whether every file was read and recognized; if not, the absence of traces says little.
    """
    result = listing("log-exceptions", "logs exceptions", now_ms, tuple(map(_item, counts)))
    empty = "No stack traces." if is_complete else "No stack traces in what was recognized."
    return render_listing(result, EXCEPTION_COLUMNS, output, style, empty=empty)


def _item(one: ExceptionCount) -> ExceptionItem:
    key = one.key
    minute = None if key.minute_ms is None else time_text(key.minute_ms)
    return ExceptionItem(
        minute,
        class_name=key.class_name,
        root_class=key.root_class,
        application=key.application,
        host=key.host,
        count=one.event_count,
        file=one.file,
        offset=one.offset,
        line=one.line,
    )


def _simple(name: str) -> str:
    return name.rpartition(".")[2]
