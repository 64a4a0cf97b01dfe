"""What reading logs costs: the whole catalogue in one process, beside mawk and grep on the same file, in one run.

    python -m benchmarks.log_scan [MEGABYTES]

mawk counts exceptions by their first class and grep the lines that hold one: less than the scanner does, and the floor.
Figures are the best of three rounds; MB/s of processor time for one process.
"""

from __future__ import annotations

import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from spark_log_analytics.scan import scan_paths

ROUNDS = 3
TRACE_EVERY = 400
COUNT_CLASSES = (
    r'/^[a-z][A-Za-z.]*Exception/ { split($1, part, ":"); count[part[1]]++ } '
    r"END { for (one in count) print one, count[one] }"
)


def write_log(path: Path, size_bytes: int) -> int:
    """Write a broker's log in which every 400th record carries a stack trace; return how many do."""
    chance = random.Random(17)
    written = traces = 0
    with path.open("w", encoding="utf-8") as file:
        while written < size_bytes:
            number = chance.randrange(10**6)
            stamp = f"[2026-11-21 09:{number % 60:02d}:{number % 59:02d},{number % 1000:03d}]"
            text = (
                f"{stamp} INFO [KafkaApi-{number % 3}] Handled request {number} for partition orders-{number % 12} in "
                f"{number % 40} ms (kafka.server.KafkaApis)\n"
            )
            if number % TRACE_EVERY == 0:
                traces += 1
                text = (
                    f"{stamp} ERROR Error processing append operation on partition a-{number % 12} "
                    "(kafka.server.ReplicaManager)\n"
                    "org.apache.kafka.common.errors.NotEnoughReplicasException: The size of the current ISR\n"
                    + "".join(f"\tat kafka.server.Part{frame}.run(Part{frame}.scala:{frame})\n" for frame in range(12))
                )
            file.write(text)
            written += len(text)
    return traces


def processor_s(kind: int) -> float:
    used = resource.getrusage(kind)
    return used.ru_utime + used.ru_stime


def best_s(work: Callable[[], object], kind: int) -> float:
    """Return the least processor time of a few rounds."""
    times = []
    for _ in range(ROUNDS):
        before = processor_s(kind)
        work()
        times.append(processor_s(kind) - before)
    return min(times)


def main(size_mb: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "server.log"
        traces = write_log(path, size_mb * 1_000_000)
        size = path.stat().st_size
        scan = scan_paths([path])
        found = sum(event.exception is not None for event in scan.events)
        assert found == traces, f"{found} of {traces} exceptions"
        rows = [("eosctl, whole catalogue", best_s(lambda: scan_paths([path]), resource.RUSAGE_SELF))]
        for name, command in (
            ("mawk, exceptions by class", ["mawk", COUNT_CLASSES, str(path)]),
            ("grep -c Exception", ["grep", "-c", "Exception", str(path)]),
        ):
            if shutil.which(command[0]):
                run = lambda command=command: subprocess.run(command, check=True, capture_output=True)  # noqa: E731
                rows.append((name, best_s(run, resource.RUSAGE_CHILDREN)))
        records = scan.sources[0].event_count
        print(f"{time.strftime('%Y-%m-%d')}: {size / 1e6:.0f} MB, {records} records, {traces} exceptions")
        for name, seconds in rows:
            print(f"{name:<28} {size / 1e6 / seconds:>8.0f} MB/s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
