"""What reads logs: this process, or Spark; with every reason why Spark cannot be used told in words."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from eosctl.commands.invocation import note
from eosctl.commands.moments import parse_moment_ms
from eosctl.errors import EosctlError, UsageError
from eosctl.model.period import Period

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_log_analytics.layouts import Layout

READING: Final = "Reading"
SPARK_FROM_BYTES: Final = 8 * 1000**3
"""Below this Spark's start costs more than its second core saves (benchmarks/log_scan.py)."""
OLDEST_JAVA: Final = 17


class EngineChoice(StrEnum):
    """What reads the files; the result is the same."""

    AUTO = "auto"
    PYTHON = "python"
    SPARK = "spark"


Zone = Annotated[
    str | None,
    typer.Option(
        "--zone", metavar="ZONE", help="Zone of stamps without one, e.g. Europe/Berlin.", rich_help_panel=READING
    ),
]
Pattern = Annotated[
    str | None,
    typer.Option(
        "--pattern",
        metavar="PATTERN",
        help="The log4j or logback pattern of the files, e.g. '%d{ISO8601} %-5p [%t] %c - %m%n'.",
        rich_help_panel=READING,
    ),
]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="TIME",
        help="Tell of what was from here on: RFC 3339, ms, or -30m; topics are read from a day before.",
        rich_help_panel=READING,
    ),
]
To = Annotated[
    str | None,
    typer.Option("--to", metavar="TIME", help="Up to here; like --from.", rich_help_panel=READING),
]
Engine = Annotated[
    EngineChoice,
    typer.Option(
        "--engine",
        help="Read in this process, or on Spark (needs Java and the spark extra); auto takes Spark from 8 GB on.",
        rich_help_panel=READING,
    ),
]


def period_of(begin: str | None, end: str | None, now_ms: int) -> Period:
    """Return the time that ``--from`` and ``--to`` name.

    Raises:
        UsageError: One of them is no time, or nothing can be between them.
    """
    period = Period(parse_moment_ms(begin, "--from", now_ms), parse_moment_ms(end, "--to", now_ms))
    if period.from_ms is not None and period.until_ms is not None and period.from_ms >= period.until_ms:
        raise UsageError("--from does not lie before --to.", "Nothing can be between them.", "Change one of them.")
    return period


def layouts_of(pattern: str | None) -> tuple[Layout, ...]:
    """Return the layout that a pattern string describes.

    Raises:
        UsageError: It describes none.
    """
    from spark_log_analytics.pattern_string import PatternError, layout_of_pattern

    try:
        return (layout_of_pattern(pattern),) if pattern else ()
    except PatternError as error:
        raise UsageError(
            f"The pattern {pattern!r} cannot be used.", str(error), "Copy it from the logging setup."
        ) from error


def takes_spark(engine: EngineChoice, paths: Sequence[Path]) -> bool:
    """Decide what reads the files; tell on standard error when that is not obvious."""
    if engine is not EngineChoice.AUTO:
        return engine is EngineChoice.SPARK
    if _size_bytes(paths) < SPARK_FROM_BYTES:
        return False
    if obstacle := spark_obstacle():
        note(f"Reading in this process: {obstacle.what}")
        return False
    note("Reading on a local Spark; --engine python reads in this process.")
    return True


def connect_obstacle() -> EosctlError | None:
    """Return why this machine cannot speak to a Spark Connect server; None when it can. Java is not needed."""
    needed = {"pyspark": "", "pyarrow": "", "pandas": "", "grpc": "grpcio", "grpc_status": "grpcio-status"}
    needed["google.rpc"] = "googleapis-common-protos"
    lacking = [package or name for name, package in needed.items() if not _is_installed(name)]
    if not lacking:
        return None
    return EosctlError(
        f"Spark Connect cannot be used: {', '.join(lacking)} is not installed.",
        "What speaks to a Connect server is an extra, for its size.",
        "Install eosctl[spark-connect].",
    )


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        # The package around it is missing already.
        return False


def spark_obstacle() -> EosctlError | None:
    """Return why Spark cannot be used here; None when it can."""
    if "SPARK_REMOTE" in os.environ:
        return connect_obstacle()
    lacking = [name for name in ("pyspark", "pyarrow", "pandas") if find_spec(name) is None]
    if lacking:
        return EosctlError(
            f"Spark cannot be used: {', '.join(lacking)} is not installed.",
            "The engine is an extra, for its size.",
            "Install eosctl[spark], or leave --engine out: the result is the same.",
        )
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    if java is None:
        return EosctlError(
            "Spark cannot be used: there is no Java.",
            f"JAVA_HOME={home} holds no bin/java." if home else "No java is on the PATH.",
            f"Install Java {OLDEST_JAVA}, or leave --engine out: the result is the same.",
        )
    version = _java_major(java)
    if version is not None and version < OLDEST_JAVA:
        return EosctlError(
            f"Spark cannot be used: {java} is Java {version}.",
            f"Spark 4 needs Java {OLDEST_JAVA} or newer.",
            f"Install Java {OLDEST_JAVA} and point JAVA_HOME at it, or leave --engine out: the result is the same.",
        )
    return None


def bar_settings() -> dict[str, str]:
    """Return the settings by which Spark draws how far its tasks are, on standard error if that is a terminal."""
    return {"spark.ui.showConsoleProgress": "true"} if sys.stderr.isatty() else {}


def bar_environment() -> dict[str, str]:
    """Return the environment in which a client of Spark Connect draws the same; it does so on standard output."""
    return {"SPARK_CONNECT_PROGRESS_BAR_ENABLED": "1"} if sys.stdout.isatty() else {}


@contextmanager
def spark_session() -> Iterator[SparkSession]:
    """Open Spark.

    Raises:
        EosctlError: It cannot be used here.
    """
    if obstacle := spark_obstacle():
        raise obstacle
    from spark_log_analytics.session import session

    if sys.stderr.isatty():
        # No moving line: the JVM writes there, too.
        note("Starting Spark.")
    # What the user has said about it goes before.
    os.environ.update(bar_environment() | os.environ)
    with session(settings=bar_settings()) as spark:
        yield spark


def _size_bytes(paths: Sequence[Path]) -> int:
    from spark_log_analytics.sources import find_files

    return sum(file.stat().st_size for file in find_files(paths) if file.is_file())


def _java_major(java: str) -> int | None:
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(?:1\.)?(\d+)', told)
    return int(found[1]) if found else None
