"""The engine that reads logs: this process, or Spark; each reason why Spark cannot be used is an error in words."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from eosctl.errors import EosctlError, UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPARK_FROM_BYTES: Final = 8 * 1000**3
"""Below this Spark's start costs more than its second core saves (benchmarks/log_scan.py)."""
OLDEST_JAVA: Final = 17


class EngineChoice(StrEnum):
    """What reads the files; the result is the same."""

    AUTO = "auto"
    PYTHON = "python"
    SPARK = "spark"


def takes_spark(engine: EngineChoice, paths: Sequence[Path], remark: Callable[[str], None]) -> bool:
    """Return whether Spark reads the files; an automatic choice for or against it on large ones is remarked."""
    if engine is not EngineChoice.AUTO:
        return engine is EngineChoice.SPARK
    if _size_bytes(paths) < SPARK_FROM_BYTES:
        return False
    if obstacle := spark_obstacle():
        remark(f"Reading in this process: {obstacle.what}")
        return False
    remark("Reading on a local Spark; --engine python reads in this process.")
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
def spark_session(
    remark: Callable[[str], None], settings: Mapping[str, str] = MappingProxyType({})
) -> Iterator[SparkSession]:
    """Open Spark, with the user's settings.

    Raises:
        UsageError: The settings would not reach the Spark Connect server that the environment names.
        EosctlError: Spark cannot be used here, or a list has more events than this process can hold.
    """
    if obstacle := spark_obstacle():
        raise obstacle
    if settings and "SPARK_REMOTE" in os.environ:
        raise UsageError(
            "--conf, --jars and --packages do not reach a Spark Connect server.",
            "SPARK_REMOTE names one, and they count when it starts.",
            "Give them to the server, or unset SPARK_REMOTE.",
        )
    from spark_log_analytics.listing import TooManyEventsError
    from spark_log_analytics.session import session

    if sys.stderr.isatty():
        # No moving line: the JVM writes there, too.
        remark("Starting Spark.")
    # What the user has said about it goes before.
    os.environ.update(bar_environment() | os.environ)
    with session(settings={**bar_settings(), **settings}) as spark:
        try:
            yield spark
        except TooManyEventsError as error:
            raise EosctlError(
                "The logs have too many events for a list of all.",
                str(error),
                "Name --category, --from, or --until; or run eosctl logs report, which leaves events where they are.",
            ) from error


def _size_bytes(paths: Sequence[Path]) -> int:
    from eosctl.logs.files.sources import find_files

    return sum(file.stat().st_size for file in find_files(paths) if file.is_file())


def _java_major(java: str) -> int | None:
    banner = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(?:1\.)?(\d+)', banner)
    return int(found[1]) if found else None
