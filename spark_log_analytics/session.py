"""Open a local Spark session that starts fast, for a program without a session."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from eosctl.temporary_folders import temporary_folder
from spark_log_analytics.warm import class_archive, reading_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOGGING: Final = Path(__file__).absolute().with_name("local-log4j2.properties")
SAFE_PATH: Final = "PYTHONSAFEPATH"
_JVM_END_S: Final = 60
# sun_path of a Unix socket address holds 108 bytes with its final NUL; Spark names a socket ".UUID.sock".
_LONGEST_SOCKET_PATH: Final = 107
_SOCKET_NAME_LENGTH: Final = 42
# The JVM only coordinates, so the cost of longer compilation never pays off.
LOCAL_JAVA: Final = f"-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dlog4j2.configurationFile={_LOGGING.as_uri()}"
FAST_START: Final = {
    "spark.ui.enabled": "false",
    # Spark writes each plan out for its UI, again whenever it adapts one; the default form takes the longest.
    "spark.sql.ui.explainMode": "simple",
}
DAEMON: Final = {"spark.python.daemon.module": "spark_log_analytics.daemon"}
LOCAL_PROFILE: Final = {
    **FAST_START,
    **DAEMON,
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
BATCH_PROFILE: Final = {
    # Arrow batches reach the Python workers in half the time over a socket file, but streaming sources in Python do not
    # support it (Spark 4.3).
    "spark.python.unix.domain.socket.enabled": "true",
}


def local_java(environment: Mapping[str, str]) -> str:
    """Return the JVM's options for a local session, with the class archive if ``logs warmup`` has written one."""
    archive = class_archive(environment)
    return LOCAL_JAVA if archive is None or not archive.exists() else f"{LOCAL_JAVA} {reading_options(archive)}"


@contextmanager
def session(
    app_name: str = "eosctl logs",
    cores: str = "*",
    *,
    streams: bool = False,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[SparkSession]:
    """Yield the active session, or a temporary one; set ``streams`` for a session that reads streams.

    ``settings`` apply to a new session, unless ``spark-submit`` or a configuration file of Spark sets them.

    An existing session is neither changed nor stopped. A master from ``spark-submit`` or the environment is kept; with
    ``SPARK_REMOTE``, the session belongs to that Spark Connect server.
    """
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    if url := os.environ.get("SPARK_REMOTE"):
        with _connected(url) as made:
            yield made
        return
    # Workers would otherwise run the first python3 on the path.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(app_name)
    if not _submitted():
        # Otherwise Spark looks up its machine's name, which may not resolve in a container.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        builder = builder.master(f"local[{cores}]")
        scratch = _scratch_of_jvm()
        uses_sockets = not streams and fits_sockets(scratch)
        for name, value in (LOCAL_PROFILE | BATCH_PROFILE if uses_sockets else LOCAL_PROFILE).items():
            builder = builder.config(name, value)
        java = f'{local_java(os.environ)} "-Djava.io.tmpdir={scratch}"'
        builder = builder.config("spark.driver.extraJavaOptions", java)
    for name, value in _unset(settings).items():
        builder = builder.config(name, value)
    with _safe_path():
        made = builder.getOrCreate()
    try:
        yield made
    finally:
        made.stop()


@contextmanager
def _safe_path() -> Iterator[None]:
    """Start the JVM so that its workers, which run `python -m`, take no module of the current directory.

    Other programs that this process starts are not concerned.
    """
    before = os.environ.get(SAFE_PATH)
    os.environ.setdefault(SAFE_PATH, "1")
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE_PATH]


def fits_sockets(directory: Path) -> bool:
    """Return whether the path of one of Spark's sockets in this directory is short enough for the system."""
    return len(os.fsencode(directory)) + 1 + _SOCKET_NAME_LENGTH <= _LONGEST_SOCKET_PATH


@cache
def _scratch_of_jvm() -> Path:
    """Return the directory for the files of this process's JVM, which outlives its sessions and ignores TMPDIR."""
    cleanup = ExitStack()
    directory = cleanup.enter_context(temporary_folder("eosctl-spark-"))
    cleanup.callback(_end_jvm)
    atexit.register(cleanup.close)
    return directory


def _end_jvm() -> None:
    """Stop the JVM, which writes to its directory until then."""
    from pyspark import SparkContext

    jvm = getattr(SparkContext._gateway, "proc", None)
    if not isinstance(jvm, subprocess.Popen):
        return
    if jvm.stdin is not None:
        jvm.stdin.close()  # the JVM exits when its input is closed
    try:
        jvm.wait(_JVM_END_S)
    except subprocess.TimeoutExpired:
        jvm.kill()
        jvm.wait()


@contextmanager
def _connected(url: str) -> Iterator[SparkSession]:
    """Open a session of a Spark Connect server; its workers get this code for the duration of the session."""
    from pyspark.sql import SparkSession

    from spark_log_analytics.archive import build_archive

    made = SparkSession.builder.remote(url).create()
    try:
        with tempfile.TemporaryDirectory(prefix="eosctl-connect-") as folder:
            made.addArtifacts(str(build_archive(Path(folder) / "eosctl_logs.zip")), pyfile=True)
        yield made
    finally:
        made.stop()


def _unset(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that the user has not set."""
    from pyspark import SparkConf

    known = SparkConf() if settings else None
    return {name: value for name, value in settings.items() if known is not None and not known.contains(name)}


def _submitted() -> bool:
    return any(name in os.environ for name in ("PYSPARK_GATEWAY_PORT", "SPARK_ENV_LOADED", "MASTER"))
