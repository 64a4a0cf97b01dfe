"""What one run of the program was asked for, kept where the error wrapper can see it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer

from eosctl.errors import EosctlError, UsageError, standard_input_stream, write_failed
from eosctl.render.escaping import lines_text, utf8_text, visible, without_commands
from eosctl.render.formats import FOR_PEOPLE, FindingFormat, format_of_file
from eosctl.render.page import PLAIN, Style
from eosctl.render.terminal import ColorChoice, style_for
from eosctl.whole_file import is_standard_output, result_file


@dataclass
class Invocation:
    """Choices of the root command, and the output format as soon as it is known.

    Tests replace the clock. ``cluster`` has the typed options that name the cluster, without secrets; ``began_s`` is
    when the program began, on the monotonic clock.
    """

    color: ColorChoice = ColorChoice.AUTO
    debug: bool = False
    output: str = "table"
    cluster: dict[str, str] = field(default_factory=dict)
    now_ms: Callable[[], int] = field(default=lambda: time.time_ns() // 1_000_000)
    began_s: float = field(default_factory=time.monotonic)

    def spent_ms(self) -> int:
        """Return the time since the program began, in ms."""
        return round((time.monotonic() - self.began_s) * 1000)

    def style(self) -> Style:
        """Return how to write to standard output in the chosen format."""
        return style_for(sys.stdout, self.color) if self.output in FOR_PEOPLE else PLAIN


def invocation_of(context: typer.Context) -> Invocation:
    """Return the run's invocation."""
    found = context.find_object(Invocation)
    if found is None:
        found = context.obj = Invocation()
    return found


def remember_output(context: typer.Context, value: StrEnum) -> StrEnum:
    """Note the format while the options are parsed, so that a later error can answer in it."""
    if not context.resilient_parsing:
        invocation_of(context).output = value.value
    return value


def remember_cluster(context: typer.Context, parameter: typer.CallbackParam, value: Any) -> Any:
    """Note an option that names the cluster, so that a later error can name it in its commands."""
    if value is not None and not context.resilient_parsing:
        invocation_of(context).cluster[parameter.opts[-1]] = str(value)
    return value


def standard_input(limit: int) -> str:
    """Return the beginning of standard input, with a note if there is more.

    Args:
        limit: How many bytes to read at most. Bytes that are not UTF-8 become replacement characters.
    """
    data = standard_input_stream().read(limit + 1)
    if len(data) > limit:
        note(f"note: only the first {limit >> 10:,} KiB were read; eosctl logs report - reads a whole log.")
    return data[:limit].decode("utf-8", "replace")


def write_result(text: str, output_file: Path | None = None) -> None:
    """Write the result to standard output, and to a file if one is given and standard output goes elsewhere.

    Raises:
        EosctlError: The file cannot be written.
    """
    sys.stdout.write(utf8_text(text))
    # A closed pipe shows here, where it is handled, and not when the interpreter ends.
    sys.stdout.flush()
    if output_file is not None and not is_standard_output(output_file):
        write_file(text, output_file)


def write_report(path: Path | None, render: Callable[[FindingFormat], str]) -> None:
    """Write a report of the same run in the format of the file's ending, if a file is named.

    Raises:
        EosctlError: The file cannot be written.
        UsageError: It exists and is not a result of eosctl.
    """
    if path is not None:
        write_file(render(format_of_file(path)), path)
        note(f"report: {path}")


def write_file(text: str, path: Path) -> None:
    """Write a file, whole or not at all.

    Raises:
        EosctlError: The file cannot be written.
        UsageError: It exists and is not a result of eosctl.
    """
    content = utf8_text(text).encode()
    try:
        with result_file(path, content) as file:
            file.write(content)
    except FileExistsError as error:
        why = f"{error.strerror}; it stays as it is."
        raise UsageError(f"Cannot write {path}.", why, "Choose another path, or remove the file first.") from error
    except OSError as error:
        raise write_failed(path, error, "Choose another path.") from error


def write_error(error: EosctlError) -> None:
    """Write the three parts of an error to standard error."""
    lines = [f"error: {' '.join(error.what.splitlines())}"]
    # A list of mistakes keeps its lines, indented, so that no text from outside looks like one of the three.
    lines += [f"{'  why:' if at == 0 else '      '} {text.strip()}" for at, text in enumerate(error.why.splitlines())]
    lines += [f"  next: {' '.join(error.next_step.splitlines())}"] if error.next_step else []
    note("\n".join(map(visible, lines)))


def write_remark(text: str) -> None:
    """Write text to standard error as it is, but for hidden characters."""
    sys.stderr.write(lines_text(text))


def note(text: str) -> None:
    """Write a remark to standard error; its lines stay, what else would move the cursor is written out."""
    sys.stderr.write(without_commands("\n".join(map(visible, text.split("\n")))) + "\n")
    sys.stderr.flush()
