"""``eosctl doctor --watch``: look again and again, and show what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from eosctl.commands.invocation import Invocation, note
from eosctl.commands.options import parse_duration_ms
from eosctl.commands.watching import check_format, frames, row_count
from eosctl.errors import UsageError
from eosctl.render.formats import FindingFormat
from eosctl.services.callbacks import Callbacks

if TYPE_CHECKING:
    from eosctl.checks.watching import Look
    from eosctl.services.watch_diagnosis import WatchRequest

WATCH = "Watch"
ROWS_WITHOUT_TERMINAL: Final = 40
HEAD_LINES: Final = 8
Watch = Annotated[
    bool,
    typer.Option("--watch", help="Look again and again until Ctrl-C, and show what changed.", rich_help_panel=WATCH),
]
Interval = Annotated[
    int,
    typer.Option(
        "--interval",
        metavar="DURATION",
        parser=parse_duration_ms,
        help="Pause between two looks of --watch; longer when looks take long.",
        rich_help_panel=WATCH,
    ),
]
Count = Annotated[
    int | None,
    typer.Option("--count", min=1, help="End --watch after this many looks.", rich_help_panel=WATCH),
]


def check_watchable(output: FindingFormat, others: dict[str, bool]) -> None:
    """Refuse what makes no sense again and again.

    Args:
        output: The format.
        others: Options that watch one moment, by name: whether they were given.

    Raises:
        UsageError: One of them was.
    """
    check_format("doctor --watch", output)
    given = [name for name, is_given in others.items() if is_given]
    if given:
        raise UsageError(
            f"--watch and {given[0]} were both given.",
            "Only a running cluster and programs that tell metrics change while one watches.",
            "Leave one of them out; eosctl logs watch follows logs.",
        )


def show_watch(request: WatchRequest, output: FindingFormat, invocation: Invocation) -> int:
    """Show each look of a watch, and return the exit code of the last one.

    Raises:
        EosctlError: The first look failed.
    """
    from eosctl.services.watch_diagnosis import watch_diagnosis

    # No progress: on a terminal its line would stand in the frame.
    shown = Callbacks(invocation.now_ms, note)
    watch = watch_diagnosis(request, shown)
    with frames(output) as show:
        for look in watch.looks:
            show(_frame(look, invocation, output))
    verdict = watch.verdict(look)
    for remark in verdict.remarks:
        note(remark)
    return verdict.exit_code


def _frame(look: Look, invocation: Invocation, output: FindingFormat) -> str:
    from eosctl.render.diagnosis.watch import look_item, render_look

    if output is FindingFormat.JSON:
        from eosctl.render.machine import render_json_line

        return render_json_line(look_item(look))
    return render_look(look, row_count(HEAD_LINES, ROWS_WITHOUT_TERMINAL), invocation.style())
