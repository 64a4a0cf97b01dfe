"""Report the outcome of a job: a verdict that is written atomically, and Spark's errors as one useful line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

_CAUSES: Final = ("Caused by: ", ": ")

_NO_SCHEME: Final = re.compile(r'No FileSystem for scheme:? "?([^"\s]+)')
_NO_CONNECTOR: Final = re.compile(
    r"ClassNotFoundException: Class (org\.apache\.hadoop\.fs\.(s3a|azurebfs)\.\w+) not found"
)
_MODULES: Final = {"s3a": "hadoop-aws", "azurebfs": "hadoop-azure"}


def job_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions of a failed job; they are imported here because importing a job must not need Spark."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    return PySparkException, Py4JError, OSError


def failure_line(error: Exception) -> str:
    """Return a line on a failed job, with the root of the error: a worker's exception, or the last cause."""
    return f"The job failed, and its result is not complete: {reason_of(error)}\n"


def reason_of(error: Exception) -> str:
    """Return what is at the bottom of Spark's error, in one line."""
    lines = [line.rstrip() for line in str(error).splitlines() if line.strip()]
    trace = next((place for place, line in enumerate(lines) if "Traceback (most recent call last)" in line), None)
    if trace is not None:
        return next((line for line in lines[trace + 1 :] if not line.startswith(" ")), type(error).__name__)
    # Py4J prints the exception itself after a colon.
    causes = [line.removeprefix("Caused by").removeprefix(": ") for line in lines if line.startswith(_CAUSES)]
    return causes[-1] if causes else next(iter(lines), type(error).__name__)


def storage_reason(reason: str) -> str:
    """Return why a storage cannot be read and what to do next, from the root of Spark's error; others unchanged."""
    if connector := _NO_CONNECTOR.search(reason):
        module = _MODULES[connector[2]]
        return (
            f"Spark has no {connector[1]}; add --packages org.apache.hadoop:{module}:VERSION "
            "with the version of Spark's own Hadoop jars"
        )
    if scheme := _NO_SCHEME.search(reason):
        return f"Spark does not have a file system for {scheme[1]}://; correct the URL, or use --packages"
    return reason


def write_json(file: Path, value: object) -> None:
    """Write a verdict atomically.

    Raises:
        OSError: The file cannot be written.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f"{file.name}.tmp")
    try:
        temporary.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
        temporary.replace(file)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
