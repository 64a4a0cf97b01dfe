"""How a use case reaches its caller while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, NamedTuple

from eosctl.errors import EosctlError


def system_now_ms() -> int:
    """Return the system's time, in ms since the epoch."""
    return time.time_ns() // 1_000_000


def _nothing_spent() -> int:
    return 0


def _ignore(_: object) -> None:
    pass


class Callbacks(NamedTuple):
    """What a use case calls while it runs. The defaults are the system's clock, and silence.

    Attributes:
        now_ms: The clock, in ms since the epoch.
        remark: Called with a line that a person should read: the cluster's address, warnings, files written.
        progress: Called with the step that begins, in words; a display may overwrite the one before, and
            an empty text removes it.
        report_error: Called with an error that does not stop the use case, such as one unreadable file of many.
        spent_ms: The time since the caller began, in ms: a part of the timeout that its connection has.
    """

    now_ms: Callable[[], int] = system_now_ms
    remark: Callable[[str], None] = _ignore
    progress: Callable[[str], None] = _ignore
    report_error: Callable[[EosctlError], None] = _ignore
    spent_ms: Callable[[], int] = _nothing_spent


SILENT: Final = Callbacks()
