"""``eosctl demo``: the whole story on a cluster of its own."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, Self

import typer

from eosctl.commands.invocation import Invocation
from eosctl.demo.steps import Steps
from eosctl.demo.story import prepare_folder, tell_story


def demo(
    invocation: Invocation,
    folder: Annotated[
        Path, typer.Option("--dir", metavar="DIR", help="Where programs, logs and the report go; replaced each time.")
    ] = Path("demo-output"),
) -> None:
    """Tell the whole story: start a cluster, break it, diagnose it, mend it, read its logs.

    Every step is a command that you could type yourself, on a sandbox that is gone afterwards, also after Ctrl-C. It
    takes about a minute, needs neither Kafka nor Java, and touches nothing but its folder. Exit code: 1 when a step
    does not end as it should.
    """
    color = invocation.style().color
    begun = time.monotonic()
    prepare_folder(folder)

    def tell(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def heading(text: str) -> str:
        return f"\033[1m{text}\033[0m" if color else f"== {text}"

    with _Interrupts() as interrupts:
        tell_story(Steps(folder, tell, interrupts.held), f"demo-{os.getpid()}", heading)
    tell(f"\nDone in {time.monotonic() - begun:.0f} s.\n")


class _Interrupts:
    """Treats a request to end and the end of the terminal as Ctrl-C; the first one only: the rest is cleaning up."""

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
        """Let what is inside come to its end before an interrupt is raised."""
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
