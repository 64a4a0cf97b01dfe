"""Measure whole runs of the log mining on Spark, from the command to its result, and a Parquet job.

    python -m benchmarks.log_whole cold 1
    python -m benchmarks.log_whole connect 1
    python -m benchmarks.log_whole parquet 4

The number is the size of the log in GB, which repeats 250 MB. `cold` starts a JVM each time, without and with the
archive of classes that `eosctl logs warmup` keeps; `connect` asks a Spark Connect server that has been asked before;
`parquet` reads with the whole catalog and writes the events, in a warm session. Two cores; processor time is
that of the program and its child processes, sampled every 20 ms, and of the server.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pyspark

from benchmarks.log_scan import write_log
from eosctl.logs.scan import plan_scan
from spark_log_analytics.job import collect_counts, into_files, number_rows, scan_frame
from spark_log_analytics.session import session

ROUNDS = 4
BLOCK_BYTES = 250_000_000
_LOOK_S = 0.02


def write(folder: Path, size_gb: float) -> Path:
    """Write the log."""
    path = folder / "orders.log"
    write_log(path, BLOCK_BYTES)
    block = path.read_bytes()
    with path.open("ab") as file:
        for _ in range(round(size_gb * 1e9 / BLOCK_BYTES) - 1):
            file.write(block)
    return path


def cold(folder: Path, path: Path) -> None:
    """Measure both commands with a separate JVM each."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    for archive in ("no archive of classes", "after logs warmup"):
        if archive.startswith("after"):
            run(["logs", "warmup"], environment)
        for words in commands(path):
            for number in range(ROUNDS):
                print_row(f"cold, {words[1]}, {archive}, run {number + 1}", *run(words, environment))


def connect(folder: Path, path: Path) -> None:
    """Measure both commands as clients of a server; their first runs warm it up."""
    with server(folder) as (url, process):
        environment = {**os.environ, "SPARK_REMOTE": url}
        for words in commands(path):
            for number in range(ROUNDS):
                before = used_s(process)
                seconds, client_s = run(words, environment)
                print_row(f"connect, {words[1]}, run {number + 1}", seconds, client_s + used_s(process) - before)


def parquet(folder: Path, path: Path) -> None:
    """Measure reading with the whole catalog and writing the events."""
    sources, _ = plan_scan([path])
    with session("benchmark", cores="2") as spark:
        here = psutil.Process()
        for number in range(ROUNDS):
            before, began = used_s(here), time.perf_counter()
            rows = scan_frame(spark, sources).persist()  # As the job does: the events need the counts of all parts.
            splits = collect_counts(rows)
            events = into_files(number_rows(rows, splits), sum(split.kept_count for split in splits))
            events.write.mode("overwrite").parquet(str(folder / "events"))
            rows.unpersist()
            seconds = time.perf_counter() - began
            print_row(f"parquet, run {number + 1}", seconds, used_s(here) - before)
            print(f"{path.stat().st_size / 1e9 / seconds:.2f} GB/s by the clock", flush=True)


def commands(path: Path) -> Iterator[list[str]]:
    """Yield the commands."""
    for name in ("exceptions", "scan"):
        yield ["logs", name, str(path), "--engine", "spark", "-o", "tsv"]


def run(words: list[str], environment: Mapping[str, str]) -> tuple[float, float]:
    """Run a command; return wall-clock and processor time, in seconds."""
    began, used = time.perf_counter(), dict[int, float]()
    with subprocess.Popen(
        [sys.executable, "-m", "eosctl", *words], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as program:
        while program.poll() is None:
            for one in family(psutil.Process(program.pid)):
                try:
                    used[one.pid] = max(sum(one.cpu_times()[:2]), used.get(one.pid, 0))
                except psutil.Error:
                    continue
            time.sleep(_LOOK_S)
    assert program.returncode == 0
    return time.perf_counter() - began, sum(used.values())


def family(program: psutil.Process) -> list[psutil.Process]:
    """Return a process and its descendants."""
    try:
        return [program, *program.children(recursive=True)]
    except psutil.Error:
        return []


def used_s(program: psutil.Process) -> float:
    """Return the processor time of a process and its descendants, including ended ones."""
    return sum(sum(one.cpu_times()[:4]) for one in family(program))


@contextmanager
def server(folder: Path) -> Iterator[tuple[str, psutil.Process]]:
    """Run a Spark Connect server on loopback."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = int(listener.getsockname()[1])
    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-class"), "org.apache.spark.deploy.SparkSubmit"]
    command += ["--master", "local[2]", "--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    command += ["--driver-java-options", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"]
    for setting in (
        "spark.ui.enabled=false",
        "spark.driver.bindAddress=127.0.0.1",
        "spark.connect.grpc.binding.address=127.0.0.1",
        "spark.python.unix.domain.socket.enabled=true",
        f"spark.connect.grpc.binding.port={port}",
    ):
        command += ["--conf", setting]
    output = folder / "server.out"
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    with (
        output.open("wb") as sink,
        subprocess.Popen(
            [*command, "spark-internal"], stdout=sink, stderr=subprocess.STDOUT, cwd=folder, env=environment
        ) as process,
    ):
        try:
            until = time.monotonic() + 240
            while "Spark Connect server started" not in output.read_text(errors="replace"):
                assert process.poll() is None and time.monotonic() < until, output.read_text(errors="replace")[-2000:]
                time.sleep(0.1)
            yield f"sc://127.0.0.1:{port}", psutil.Process(process.pid)
        finally:
            process.terminate()


def print_row(what: str, seconds: float, processor_s: float) -> None:
    """Print a row of the table."""
    load = os.getloadavg()[0]
    print(f"{what:<52} {seconds:6.2f} s by the clock, {processor_s:6.2f} s of processor, load {load:.1f}", flush=True)


def main(what: str, size_gb: float) -> None:
    """Write the log and measure."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        {"cold": cold, "connect": connect, "parquet": parquet}[what](folder, write(folder, size_gb))


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in ("cold", "connect", "parquet"):
        sys.exit(__doc__)
    main(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 1)
