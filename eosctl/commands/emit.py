"""How commands end: the result, what is missing from it, and the exit code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn, TypeVar

import typer

from eosctl.command_line.incomplete import note_gaps
from eosctl.command_line.invocation import Invocation, write_result
from eosctl.commands.options import ResultOptions
from eosctl.errors import EosctlError, ExitCode
from eosctl.model.evidence import EvidenceGap
from eosctl.render.envelope import listing
from eosctl.render.formats import FOR_PEOPLE
from eosctl.render.listing import Column, render_listing
from eosctl.render.page import Style

T = TypeVar("T")


def emit(
    text: str,
    result: ResultOptions,
    gaps: Sequence[EvidenceGap] = (),
    code: ExitCode = ExitCode.DONE,
    *,
    complete: bool = False,
    error: EosctlError | None = None,
) -> NoReturn:
    """Write a result, and end the command.

    Args:
        text: The result.
        result: Where it goes.
        gaps: The evidence that is missing; named on standard error if the result omits it.
        code: The exit code.
        complete: Whether missing evidence ends in `ExitCode.INCOMPLETE`, unless the code says something already.
        error: Raised after the result is written, if there is one.

    Raises:
        EosctlError: The file cannot be written.
    """
    write_result(text, result.output_file)
    note_gaps(result.output, gaps, text)
    if error is not None:
        raise error
    raise typer.Exit(ExitCode.INCOMPLETE if complete and gaps and code is ExitCode.DONE else code)


def emit_list(
    name: tuple[str, str],
    items: Sequence[T],
    columns: Sequence[Column[T]],
    result: ResultOptions,
    invocation: Invocation,
    *,
    page: Callable[[Style], str] | None = None,
    empty: str = "Nothing.",
    code: ExitCode = ExitCode.DONE,
) -> NoReturn:
    """Write a list of like things, or the page that people read instead of it, and end the command.

    Args:
        name: The schema's name without the program, and the command without the program's name.
        items: The things.
        columns: What the table shows of them.
        result: Where the list goes.
        invocation: The run.
        page: Renders the page for people; without it, they read the list too.
        empty: The text for an empty list.
        code: The exit code.

    Raises:
        EosctlError: The file cannot be written.
    """
    if page is not None and result.output in FOR_PEOPLE:
        emit(page(invocation.style()), result, code=code)
    envelope = listing(*name, invocation.now_ms(), tuple(items))
    emit(render_listing(envelope, columns, result.output, invocation.style(), empty=empty), result, code=code)
