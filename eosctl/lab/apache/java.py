"""The Java runtime of Kafka, and its command lines."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.lab.apache.jars import Progress, ignore_progress, resolve_jars
from eosctl.lab.apache.releases import KafkaRelease
from eosctl.lab.engine import EngineError, MissingTool

MIB = 1 << 20
# The JVM would log about an archive to stdout, which has the result of a tool.
QUIET_START: Final = ("-Xlog:disable", "-Xlog:all=error:stderr")
"""Options with which the JVM writes nothing about an archive of classes to its output."""


class ToolResult(NamedTuple):
    """The output of one of Kafka's own tools."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def complaint(self) -> str:
        """Return the first line of the tool's error message, without Java's exception prefix."""
        lines = [line for line in (self.stderr + self.stdout).splitlines() if line.strip()]
        first = lines[0] if lines else f"It ended with exit status {self.exit_code} and said nothing."
        return re.sub(r'^Exception in thread "[^"]*" (?:[\w.$]+: )?', "", first)


class Runtime(NamedTuple):
    """A Java executable with the class path of a Kafka release."""

    java: Path
    jars: Path
    release: KafkaRelease

    @property
    def class_archive(self) -> Path:
        """Return the path of the archive of the release's classes for this Java, whether it exists or not.

        With an archive, programs start in two thirds of the processor time (class data sharing). The JVM ignores one
        that does not match its build or its class path. An archive takes 50 MB, and more time to write than several
        starts save: the tests against real Kafka write those of the releases that they start often.
        """
        status = self.java.resolve().stat()
        return self.jars.with_name(f"{self.jars.name}-{status.st_size:x}-{status.st_mtime_ns:x}.jsa")

    def command(self, main_class: str, *args: str, heap_bytes: int, options: Sequence[str] = ()) -> list[str]:
        """Return the command line that runs a main class of the release."""
        heap = f"-Xmx{heap_bytes // MIB}m"
        archive = self.class_archive
        classes = (f"-XX:SharedArchiveFile={archive}", "-Xshare:auto", *QUIET_START) if archive.exists() else ()
        return [str(self.java), heap, *classes, *options, "-cp", f"{self.jars}/*", main_class, *args]


def prepare_runtime(
    release: KafkaRelease, cache_dir: Path | None = None, progress: Progress = ignore_progress
) -> Runtime:
    """Find Java and the jars of a release; fetch jars that are not cached.

    Raises:
        EngineError: Java is missing or too old, or the jars cannot be fetched.
    """
    return Runtime(find_java(release), resolve_jars(release, cache_dir, progress), release)


def find_java(release: KafkaRelease) -> Path:
    """Return the Java executable of JAVA_HOME, or else of the PATH.

    Raises:
        EngineError: Java is missing, or older than the release requires.
    """
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    if found is None:
        raise MissingTool(
            "java",
            "Apache Kafka needs Java, which was not found"
            + (f" in {home} (JAVA_HOME)." if home else " on the PATH (JAVA_HOME is not set)."),
            next_step="Install a Java runtime, e.g. apt-get install openjdk-17-jre-headless; Debian 13 has 21.",
        )
    major = java_major(subprocess.run([found, "-version"], capture_output=True, text=True, check=False).stderr)
    if major is not None and major < release.java_major:
        raise EngineError(
            f"Apache Kafka {release.version} needs Java {release.java_major} or later.",
            f"{found} is Java {major}.",
            next_step="Point JAVA_HOME at a later one.",
        )
    return Path(found)


def java_major(banner: str) -> int | None:
    """Return the feature release in the output of `java -version`; None without one.

    Java 8 and older use 1.8, 1.7, and so on.
    """
    match = re.search(r'version "(?:1\.)?(\d+)', banner)
    return int(match[1]) if match else None


def run_tool(
    runtime: Runtime,
    main_class: str,
    *args: str,
    heap_bytes: int = 512 * MIB,
    options: Sequence[str] = (),
    typed: str = "",
    timeout_ms: int = 120_000,
) -> ToolResult:
    """Run one of Kafka's own tools, e.g. `org.apache.kafka.tools.TransactionsCommand`.

    `typed` is the tool's standard input. Any exit status is a valid result.

    Raises:
        EngineError: The tool did not end within `timeout_ms`.
    """
    command = runtime.command(
        main_class,
        *args,
        heap_bytes=heap_bytes,
        options=("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *_quiet(runtime.release), *options),
    )
    try:
        done = subprocess.run(
            command,
            input=typed,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_ms / 1000,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise EngineError(
            f"{main_class} did not end within {timeout_ms} ms.",
            "Kafka's tools wait for a cluster that does not answer, and a busy machine slows the start of Java.",
            "See whether the brokers answer (eosctl doctor -b ADDRESS), then try again.",
        ) from None
    return ToolResult(done.returncode, done.stdout, done.stderr)


def _quiet(release: KafkaRelease) -> tuple[str, ...]:
    """Return options that keep log lines out of a tool's output; warnings go to stderr."""
    return (f"-D{release.logging_property}={log_configuration(f'tools-{release.logging}').as_uri()}",)


def log_configuration(name: str) -> Path:
    """Return the path of a logging configuration of this package."""
    return Path(__file__).with_name(f"{name}.properties")
