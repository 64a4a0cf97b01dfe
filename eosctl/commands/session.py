"""What commands pass to services: the clock, and where remarks, progress, and errors are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from eosctl.command_line.invocation import Invocation, note, write_error
from eosctl.render.progress import show_progress
from eosctl.services.callbacks import Callbacks

Q = TypeVar("Q")
R = TypeVar("R")


@contextmanager
def callbacks(now_ms: Callable[[], int]) -> Iterator[Callbacks]:
    """Yield callbacks that write to standard error; on a terminal, progress is one line that disappears."""
    with show_progress() as progress:
        yield Callbacks(now_ms, note, progress, write_error)


def perform(service: Callable[[Q, Callbacks], R], request: Q, invocation: Invocation) -> R:
    """Return what a service answers to a request; remarks, progress, and errors go to standard error."""
    with callbacks(invocation.now_ms) as shown:
        return service(request, shown._replace(spent_ms=invocation.spent_ms))
