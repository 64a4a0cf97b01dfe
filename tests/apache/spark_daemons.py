"""Spark's own daemons as processes of a test, and a Python for their workers that knows nothing of eosctl."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

SITE = Path(pyspark.__file__).parents[1]
PATIENCE_S = 240
# Each job starts four of them, which live for seconds: what they compile a second time they never earn back.
SHORT_LIVED_JAVA = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
NOT_THERE = ("eosctl", "__editable__", "spark_log_analytics", "cramjam", "google_crc32c", "zstandard", "msgspec")


@contextmanager
def spark_process(
    folder: Path, name: str, *arguments: str, python: Path | None = None, code: Path | None = None
) -> Iterator[Path]:
    """Run a Spark daemon in the foreground; yield its output file.

    `python` is its workers' Python, `code` their import path.
    """
    output = folder / f"{name}.out"
    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(folder / "work")}
    environment["SPARK_DAEMON_JAVA_OPTS"] = SHORT_LIVED_JAVA
    if python is not None:
        environment["PYSPARK_PYTHON"] = str(python)
    if code is not None:
        environment["PYTHONPATH"] = str(code)
    with output.open("wb") as sink:
        process = subprocess.Popen(
            [str(program), *arguments], stdout=sink, stderr=subprocess.STDOUT, cwd=folder, env=environment
        )
        try:
            yield output
        finally:
            process.terminate()
            process.wait(60)


def wait_for(output: Path, words: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while words not in output.read_text(errors="replace"):
        assert time.monotonic() < deadline, output.read_text(errors="replace")[-2000:]
        time.sleep(0.1)


def bare_python(folder: Path, *lacking: str) -> Path:
    """Make a Python with what a cluster's image has: pyarrow, pandas and what they need, but nothing of eosctl's.

    ``lacking`` are further packages that it is not to find.
    """
    packages = folder / "packages"
    packages.mkdir()
    for entry in SITE.iterdir():
        if not entry.name.startswith((*NOT_THERE, *lacking)) and entry.suffix != ".pth":
            (packages / entry.name).symlink_to(entry)
    script = folder / "python3"
    script.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{packages}" exec {sys.executable} -S "$@"\n')
    script.chmod(0o755)
    return script
