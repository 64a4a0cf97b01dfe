"""The program: its options, and the one wrapper that turns an error into an exit code; `registry` has its commands."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command

from eosctl import __version__
from eosctl.command_line.invocation import Invocation, invocation_of, write_error
from eosctl.command_line.lazy import HELP, group_class
from eosctl.command_line.next_command import with_connection
from eosctl.commands.registry import COMMANDS, FIRST_STEPS
from eosctl.errors import EosctlError, ExitCode, UsageError, defect_error, file_error, is_disk_full, write_failed
from eosctl.render.terminal import ColorChoice

COMPLETION = "_EOSCTL_COMPLETE"
"""Variable in which a shell says what to complete."""

app = typer.Typer(
    name="eosctl",
    cls=group_class(COMMANDS, first_steps=FIRST_STEPS),
    help="Diagnose and repair Apache Kafka exactly-once deployments.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=HELP,
)


def _show_version(value: bool) -> None:
    if value:
        sys.stdout.write(f"eosctl {__version__}\n")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    color: Annotated[ColorChoice, typer.Option("--color", help="When to use color.")] = ColorChoice.AUTO,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Take the options that stand before the command."""
    invocation = invocation_of(context)
    invocation.color = color
    invocation.debug = debug


def main(arguments: list[str] | None = None, began_s: float | None = None) -> int:
    """Run the program.

    Args:
        arguments: The command line without the program's name; that of the process when None.
        began_s: When the program began, on the monotonic clock; now when None.

    Returns:
        The exit code.
    """
    invocation = Invocation() if began_s is None else Invocation(began_s=began_s)
    if sys.stdout is None or sys.stderr is None:  # such as >&-
        return _without_streams()
    _write_utf8(sys.stdout)
    try:
        _check_completion(os.environ)
        _program()(arguments, prog_name="eosctl", obj=invocation)
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else 0 if ending.code is None else 1
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except EosctlError as error:
        if invocation.debug:
            raise
        return _report(error, invocation)
    except OSError as error:
        if invocation.debug:
            raise
        return _report(_output_failed(error) or file_error(error) or _defect(error), invocation)
    except Exception as error:
        # The last resort: a defect ends in three lines, not in a traceback.
        if invocation.debug:
            raise
        return _report(_defect(error), invocation)
    return 0


@cache
def _program() -> Any:
    """Return the program as typer runs it, which takes as long to build as to run a short command."""
    return get_command(app)


def _write_utf8(stream: object) -> None:
    """Write results as UTF-8, as pages and JSON declare it, where the locale or PYTHONIOENCODING has less than Unicode.

    A terminal keeps its encoding, and shows what it cannot show as escapes.
    """
    if not isinstance(stream, io.TextIOWrapper) or stream.encoding.lower().startswith("utf"):
        return
    if stream.isatty():
        stream.reconfigure(errors="backslashreplace")
    else:
        stream.reconfigure(encoding="utf-8")


def _check_completion(environment: Mapping[str, str]) -> None:
    """Refuse a completion for bash that no shell asked for: typer reads the words unchecked."""
    if environment.get(COMPLETION) != "complete_bash":
        return
    if "COMP_WORDS" not in environment or not environment.get("COMP_CWORD", "").isdecimal():
        why = f"{COMPLETION} is set, and COMP_WORDS or COMP_CWORD is not as bash sets it."
        raise UsageError("Nothing can be completed.", why, f"Unset {COMPLETION}.")


def _defect(error: Exception) -> EosctlError:
    return defect_error(error, "Run it again with: eosctl --debug ...")


def _output_failed(error: OSError) -> EosctlError | None:
    """Return what to report if a disk is full, or standard output cannot be written; None for other errors."""
    if not is_disk_full(error):
        return None
    if error.filename is None:
        _drop_output()
    return write_failed(error.filename or "the result", error, "")


def _drop_output() -> None:
    """Let the interpreter end without another attempt to write what is left of the result."""
    sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open until the process ends


def _without_streams() -> int:
    if sys.stderr is not None:
        sys.stderr.write("error: Standard output is closed.\n  next: Redirect it to a file or to /dev/null.\n")
    return ExitCode.FAILED


def _report(error: EosctlError, invocation: Invocation) -> int:
    """Write an error: three parts on standard error, and under ``-o json`` an object on standard output."""
    from eosctl.model.redaction import redact_text

    # Both quote what a user wrote or a server answered; the next step is our own text.
    error.what, error.why = redact_text(error.what), redact_text(error.why)
    write_error(with_connection(error, invocation.cluster))
    if invocation.output == "json":
        from eosctl.render.failure import render_failure

        sys.stdout.write(render_failure(error))
        sys.stdout.flush()
    return error.exit_code
