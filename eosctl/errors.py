"""Errors that a user can act on: what happened, why, and what to do next.

Standard library only: every package below ``commands`` may raise one, and only ``cli`` turns them into an exit code.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterable
from enum import IntEnum
from pathlib import Path
from typing import BinaryIO, ClassVar, Final


class ExitCode(IntEnum):
    """The exit codes of every command; a runbook run has further ones of its own.

    Attributes:
        DONE: The command did its work, and nothing that it found fails the run.
        FAILED: An operation failed, such as a request that no broker answered.
        BAD_INPUT: The command line or an input file is wrong.
        FINDINGS: A finding is at or above ``--fail-on``.
        INCOMPLETE: Evidence is missing, and ``--require-complete`` was given, or too much of it for a grade; or a right
            is missing without which the command cannot do its work.
        INTERRUPTED: The user ended the command (Ctrl-C).
    """

    DONE = 0
    FAILED = 1
    BAD_INPUT = 2
    FINDINGS = 3
    INCOMPLETE = 4
    INTERRUPTED = 130


class EosctlError(Exception):
    """A failed operation, described in three sentences.

    Attributes:
        what: What happened, with Kafka's error name if a broker returned one.
        why: The likely cause; empty if it is unknown.
        next_step: What the reader can do; empty if there is no remedy.
        exit_code: The exit status of the process if the error is not handled.
    """

    exit_code: ClassVar[int] = ExitCode.FAILED

    def __init__(self, what: str, why: str = "", next_step: str = "") -> None:
        super().__init__(what, why, next_step)
        self.what = what
        self.why = why
        self.next_step = next_step

    def __str__(self) -> str:
        return "\n".join(line for line in (self.what, self.why, self.next_step) if line)


class UsageError(EosctlError):
    """The command line asks for something that makes no sense."""

    exit_code = ExitCode.BAD_INPUT


def standard_input_stream() -> BinaryIO:
    """Return the bytes of standard input.

    Raises:
        UsageError: The shell closed it (``<&-``).
    """
    if sys.stdin is None:
        raise UsageError("Standard input is closed.", "- reads it.", "Pipe a text to the command, or name a file.")
    return sys.stdin.buffer


# The message of a defect may be the text of everything that a file holds.
_LONGEST_DEFECT = 200


def defect_error(error: Exception, again: str) -> EosctlError:
    """Return the error for an exception that nothing expects.

    Args:
        error: The exception; a long message is cut.
        again: How to get the traceback.
    """
    return EosctlError(
        f"eosctl failed: {_exception_text(error)}",
        "This is a defect in eosctl, not in your cluster.",
        f"{again} and report the traceback.",
    )


def crash_text(error: Exception) -> str:
    """Return an exception that nothing expects with the place where it was raised: ``KeyError: 'x' (groups.py:20)``."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f" ({Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno})" if place is not None else ""
    return f"{_exception_text(error)}{where}"


def _exception_text(error: Exception) -> str:
    said = str(error)
    said = f"{said[:_LONGEST_DEFECT]} ..." if len(said) > _LONGEST_DEFECT else said
    return f"{type(error).__name__}: {said}"


# More names than this are not read in an error.
_NAMES_SHOWN = 8
# Longer than any path that a system opens by one name.
_PATH_SHOWN = 300


def unknown_name(kind: str, name: str, known: Iterable[str], listing: str) -> UsageError:
    """Return the error for an unknown name, with the closest known names.

    Args:
        kind: The kind of thing in the singular, such as ``runbook``.
        name: The name that the user wrote.
        known: All known names.
        listing: How to list them, without a full stop: ``List them: eosctl runbook list``.
    """
    from difflib import get_close_matches  # imported only when there is an error

    names = sorted(map(str, known))
    by_small_letters = {one.lower(): one for one in names}
    written = name.lower()
    inside = [one for one in by_small_letters if one.startswith(f"{written}-") or written.startswith(f"{one}-")]
    alike = get_close_matches(written, by_small_letters, n=3, cutoff=0.6)
    close = [by_small_letters[one] for one in [*inside, *(one for one in alike if one not in inside)][:3]]
    if len(names) <= _NAMES_SHOWN:
        why = f"Known: {', '.join(names)}." if names else "None exists."
    else:
        why = f"{len(names)} are available."
    meant = f"Did you mean {' or '.join(map(repr, close))}? " if close else ""
    return UsageError(f"Unknown {kind} {name!r}.", why, f"{meant}{listing}.")


class ProcedureRefused(EosctlError):  # noqa: N818
    """The words ask for a procedure that destroys data."""

    exit_code = ExitCode.FINDINGS


class ConfigFileError(EosctlError):
    """A configuration file cannot be read or holds a value that is not allowed."""

    exit_code = ExitCode.BAD_INPUT


def file_error(error: OSError) -> ConfigFileError | None:
    """Return the error of a file that the user named, which no command has handled; None for another error."""
    if not isinstance(error.filename, str | bytes):
        return None
    name = error.filename if isinstance(error.filename, str) else error.filename.decode("utf-8", "surrogateescape")
    shown = name if len(name) <= _PATH_SHOWN else f"{name[:_PATH_SHOWN]}..."
    return ConfigFileError(f"Cannot use {shown}.", error.strerror or str(error), "Check the path and its permissions.")


_DISK_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def is_disk_full(error: OSError) -> bool:
    """Return whether a disk, a quota, or a limit on the size of files leaves no space to write."""
    return error.errno in _DISK_FULL


def write_failed(path: object, error: OSError, next_step: str, kind: type[EosctlError] = EosctlError) -> EosctlError:
    """Return the error of a file that cannot be written; a full disk is an operation that failed.

    Args:
        path: The file.
        error: Why it cannot be written.
        next_step: What to do unless the disk is full.
        kind: The type of the error unless the disk is full.
    """
    what, why = f"Cannot write {path}.", error.strerror or str(error)
    if is_disk_full(error):
        return EosctlError(what, why, "Free space on the disk, or write to another one.")
    return kind(what, why, next_step)


class ClusterUnreachable(EosctlError):  # noqa: N818
    """No broker could be spoken to."""


class RequestTimedOut(EosctlError):  # noqa: N818
    """A broker was reached and did not answer in time."""


class AuthenticationFailed(EosctlError):  # noqa: N818
    """The broker refused the credentials, or its certificate is not to be trusted."""


class AuthorizationDenied(EosctlError):  # noqa: N818
    """The broker knows who asks and refuses this operation."""

    exit_code = ExitCode.INCOMPLETE


class EvidenceIncomplete(EosctlError):  # noqa: N818
    """The result is incomplete, and the caller requires a complete one."""

    exit_code = ExitCode.INCOMPLETE


class UnsupportedByBroker(EosctlError):  # noqa: N818
    """The broker does not serve the API, or not in a version that is needed."""


class BrokerError(EosctlError):
    """A broker answered an error code that is none of the above.

    Attributes:
        error_code: Kafka's code as on the wire.
    """

    def __init__(self, what: str, why: str = "", next_step: str = "", *, error_code: int = -1) -> None:
        super().__init__(what, why, next_step)
        self.error_code = error_code


class DecodeError(EosctlError):
    """Bytes that do not follow Kafka's formats."""


class PlanRefused(EosctlError):  # noqa: N818
    """A change is not carried out because the cluster's state does not allow it."""
