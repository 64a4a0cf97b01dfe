"""How use cases that repeat themselves measure and make pauses."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, NamedTuple


class Stopwatch(NamedTuple):
    """A monotonic clock and a pause, both in seconds."""

    now_s: Callable[[], float] = time.monotonic
    pause_s: Callable[[float], None] = time.sleep


SYSTEM: Final = Stopwatch()
