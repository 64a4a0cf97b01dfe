"""``eosctl doctor --watch``: look again and again, and show what changed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Final, NamedTuple

import typer

from eosctl.command_line.invocation import Invocation, note, write_result
from eosctl.command_line.values import parse_duration_ms
from eosctl.commands.options import check_format
from eosctl.errors import UsageError
from eosctl.render.diagnosis.watch import render_look
from eosctl.render.formats import FindingFormat
from eosctl.render.live import frames, row_count
from eosctl.services.callbacks import Callbacks
from eosctl.services.watch_diagnosis import WatchRequest, watch_diagnosis

WATCH: Final = "Watch"
_watch = partial(typer.Option, rich_help_panel=WATCH)
ROWS_WITHOUT_TERMINAL: Final = 40
HEAD_LINES: Final = 8


class WatchOptions(NamedTuple):
    """The options of a watch."""

    watch: Annotated[bool, _watch("--watch", help="Continuous diagnosis that shows changes, until Ctrl-C.")] = False
    interval: Annotated[
        int,
        _watch(
            "--interval",
            metavar="DURATION",
            parser=parse_duration_ms,
            help="Time between two readings of --watch; longer if a reading takes longer.",
        ),
    ] = 30_000
    look_count: Annotated[
        int | None, _watch("--count", min=1, help="Number of readings of --watch; unlimited by default.")
    ] = None


def check_watchable(output: FindingFormat, given: Sequence[str]) -> None:
    """Refuse what makes no sense again and again.

    Args:
        output: The format.
        given: The names of given options that are about one moment.

    Raises:
        UsageError: One of them was given.
    """
    check_format("doctor --watch", output)
    if given:
        raise UsageError(
            f"--watch and {given[0]} were both given.",
            "--watch needs a live source: a running cluster or programs with metrics.",
            "Leave one of them out; eosctl logs watch follows logs.",
        )


def show_watch(request: WatchRequest, output: FindingFormat, invocation: Invocation) -> int:
    """Show each look of a watch, and return the exit code of the last one.

    Raises:
        EosctlError: The first reading failed.
    """
    # No progress: on a terminal its line would stand in the frame.
    watch = watch_diagnosis(request, Callbacks(invocation.now_ms, note))
    with frames(output, write_result) as show:
        for look in watch.looks:
            show(render_look(look, row_count(HEAD_LINES, ROWS_WITHOUT_TERMINAL), output, invocation.style()))
    verdict = watch.verdict(look)
    for remark in verdict.remarks:
        note(remark)
    return verdict.exit_code
