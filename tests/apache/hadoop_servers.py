"""A file system on loopback: an HDFS of Hadoop's own test jar."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pyspark
import pytest

from tests.apache.spark_daemons import PATIENCE_S, SHORT_LIVED_JAVA

JARS = Path(pyspark.__file__).parent / "jars"
HADOOP = next(JARS.glob("hadoop-client-api-*.jar")).stem.removeprefix("hadoop-client-api-")
"""The release of Hadoop that this Spark has; other jars of Hadoop must be of the same."""
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"


class FileSystem(NamedTuple):
    """A file system: the URL of its root, the jars to reach it, and settings of Spark."""

    url: str
    jars: tuple[Path, ...] = ()
    settings: tuple[str, ...] = ()

    def shell(self, *words: str) -> str:
        """Run a command of Hadoop's shell, such as ``-put``; return its output."""
        options = [word for setting in self.settings for word in ("-D", setting.removeprefix("spark.hadoop."))]
        with tempfile.TemporaryDirectory() as folder:
            # The shell wants a file of settings, even an empty one.
            Path(folder, "core-site.xml").write_text("<configuration/>")
            classes = os.pathsep.join([folder, f"{JARS}/*", *map(str, self.jars)])
            command = ["java", *SHORT_LIVED_JAVA.split(), "-cp", classes, "org.apache.hadoop.fs.FsShell", *options]
            done = subprocess.run([*command, *words], capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout


@contextmanager
def running_hdfs(folder: Path) -> Iterator[FileSystem]:
    """Run a name node and a data node in one process."""
    artifact = f"org.apache.hadoop:hadoop-client-minicluster:{HADOOP}"
    run_maven(f"{PLUGIN}:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={folder}")
    details = folder / "details.json"
    classes = os.pathsep.join([*map(str, folder.glob("*.jar")), f"{JARS}/*"])
    command = ["java", *SHORT_LIVED_JAVA.split(), "-Xmx256m", "-cp", classes]
    command += ["org.apache.hadoop.test.MiniDFSClusterManager", "-datanodes", "1", "-format", "-writeDetails"]
    command += [str(details), "-D", f"hdfs.minidfs.basedir={folder / 'data'}"]
    with running(command, folder / "hdfs.out") as process:
        wait_until(lambda: details.exists() and details.read_text().endswith("}"), process, folder / "hdfs.out")
        port = int(details.read_text().partition(":")[2].rstrip("}"))
        yield FileSystem(f"hdfs://127.0.0.1:{port}")


def run_maven(*words: str) -> None:
    if shutil.which("mvn") is None:
        pytest.skip("mvn is missing: the jars come from Maven Central")
    done = subprocess.run(["mvn", "-q", "-B", *words], capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stdout[-2000:]


@contextmanager
def running(
    command: list[str], output: Path, environment: dict[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    with output.open("wb") as sink, subprocess.Popen(command, stdout=sink, stderr=sink, env=environment) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.wait(60)


def wait_until(is_ready: object, process: subprocess.Popen[bytes], output: Path) -> None:
    assert callable(is_ready)
    deadline = time.monotonic() + PATIENCE_S
    while not is_ready():
        assert process.poll() is None and time.monotonic() < deadline, output.read_text(errors="replace")[-2000:]
        time.sleep(0.2)
