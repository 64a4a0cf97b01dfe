"""Report the outcome of a job: a verdict that is written atomically, and Spark's errors as one useful line."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Final

from eosctl.model.redaction import redact_text
from eosctl.whole_file import whole_file
from spark_log_analytics.storage_problems import storage_reason

PROBLEMS: Final = "EOSCTL_JOB_PROBLEMS"
"""The variable that names the file for a job's problems, one a line. A driver in a cluster does not have it."""
RESULT: Final = "EOSCTL_JOB_RESULT"
"""The variable that names the file for a verdict if the result of a job is not a directory of this machine."""
_CAUSES: Final = ("Caused by: ", ": ")


def job_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions of a failed job; they are imported here because importing a job must not need Spark."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    return PySparkException, Py4JError, OSError


def report_problem(text: str) -> None:
    """Print a problem, and hand it to the program that started the job, which prints it after Spark's messages."""
    line = text.replace("\n", "\\n").encode("utf-8", "backslashreplace").decode()
    sys.stderr.write(f"{line}\n")
    if file := os.environ.get(PROBLEMS):
        with Path(file).open("a", encoding="utf-8") as problems:
            problems.write(f"{line}\n")


def verdict_file(folder: Path | None, name: str) -> Path | None:
    """Return the file for a verdict: in the directory of the result, or where the starting program reads it.

    Only the tables have the verdict if there is neither, as with a driver in a cluster.
    """
    if folder is not None:
        return folder / name
    file = os.environ.get(RESULT)
    return Path(file) if file else None


def failure_line(error: Exception) -> str:
    """Return a line on a failed job, with the root of the error: a worker's exception, or the last cause."""
    return f"The job failed, and its result is not complete: {reason_of(error)}"


def reason_of(error: Exception) -> str:
    """Return the problem of a storage, or what is at the bottom of Spark's error, in one line without secrets."""
    return redact_text(storage_reason(str(error)) or _root_of(error))


def _root_of(error: Exception) -> str:
    lines = [line.rstrip() for line in str(error).splitlines() if line.strip()]
    trace = next((place for place, line in enumerate(lines) if "Traceback (most recent call last)" in line), None)
    if trace is not None:
        return next((line for line in lines[trace + 1 :] if not line.startswith(" ")), type(error).__name__)
    # Py4J prints the exception itself after a colon.
    causes = [line.removeprefix("Caused by").removeprefix(": ") for line in lines if line.startswith(_CAUSES)]
    return causes[-1] if causes else next(iter(lines), type(error).__name__)


def write_json(file: Path, value: object) -> None:
    """Write a verdict atomically.

    Raises:
        OSError: The file cannot be written.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(file, is_private=False) as target:
        target.write(json.dumps(value, indent=2).encode() + b"\n")
