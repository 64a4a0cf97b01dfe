"""Handle requests to end a demonstration, delayed while a step must complete."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self


class Interrupts:
    """Treats a request to end and the end of the terminal as Ctrl-C, once; later ones are ignored during clean-up."""

    _SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self) -> None:
        self._are_held = False
        self._came: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._note) for number in self._SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Complete the enclosed code before an interrupt is raised."""
        self._are_held = True
        try:
            yield
        finally:
            self._are_held = False
        if self._came is not None:
            came, self._came = self._came, None
            signal.default_int_handler(came, None)

    def _note(self, number: int, frame: FrameType | None) -> None:
        for each in self._SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        if self._are_held:
            self._came = number
        else:
            signal.default_int_handler(number, frame)
