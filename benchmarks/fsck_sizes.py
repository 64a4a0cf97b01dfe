"""Measure whether the cost of `eosctl fsck` is flat per GB, what an interrupted check costs, and its memory.

    python -m benchmarks.fsck_sizes [--sizes-gb 1,4,16] [--segment-mb 256] [--batch-kb 16] [--home DIRECTORY]

A partition of 1 GB is written once: four producers with transactions of ten batches, each tenth of them aborted, in
segments with their indexes, transaction indexes, and producer snapshots. Further partitions are hard links to its
files, so that all sizes fit on a small disk; each is read in full. Every size is checked whole, with `--progress-file`,
and after it was killed at half of the processor time; the last row of a size is what the second run costs. Costs are
those of the processes, in processor time; memory is the largest resident set.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks import as_installed
from eosctl.storage.config import LogConfig
from eosctl.storage.descriptors import Descriptors
from eosctl.storage.log import SegmentedLog
from eosctl.storage.producer_replay import ProducerReplay
from eosctl.storage.producer_snapshot import write_snapshot
from eosctl.wire.records.batch import decode_header, encode_batch
from eosctl.wire.records.control import EndTxnMarker, encode_marker_batch
from eosctl.wire.records.record import Record

INSTALLED: Final = as_installed()
GB: Final = 1 << 30
PRODUCERS: Final = 4
_BATCHES_PER_TRANSACTION: Final = 10
_START_MS: Final = 1_795_253_419_624
_TICK_S: Final = 0.2


class Cost(NamedTuple):
    """Processor and wall-clock time of a process in seconds, its largest memory in MB, and its exit code."""

    cpu_s: float
    wall_s: float
    peak_mb: float
    code: int


def write_partition(directory: Path, size: int, segment_bytes: int, batch_bytes: int) -> None:
    """Write a log with transactions as brokers do."""
    log = SegmentedLog(directory, LogConfig(segment_bytes=segment_bytes), Descriptors())
    replay, sequences, value = ProducerReplay(), [0] * PRODUCERS, os.urandom(1000)
    records = [Record(0, _START_MS, b"key", value) for _ in range(max(1, batch_bytes // 1024))]
    written, transaction = 0, 0

    def append(batch: bytes) -> None:
        nonlocal written
        header = decode_header(batch)
        base_offset = log.append(batch, header)
        if base_offset is not None:
            write_snapshot(directory, base_offset, replay.producers.values())
        ended = replay.apply(header, batch)
        if ended is not None and not ended.committed:
            log.append_aborted_txn(ended.as_aborted())
        written += len(batch)

    while written < size:
        producer, transaction = transaction % PRODUCERS, transaction + 1
        for _ in range(_BATCHES_PER_TRANSACTION):
            append(
                encode_batch(
                    records,
                    base_offset=log.log_end_offset,
                    producer_id=producer,
                    producer_epoch=0,
                    base_sequence=sequences[producer],
                    transactional=True,
                    partition_leader_epoch=0,
                )
            )
            sequences[producer] += len(records)
        marker = EndTxnMarker(transaction % 10 > 0, 0)
        offset = log.log_end_offset
        append(encode_marker_batch(marker, producer, 0, _START_MS, base_offset=offset, partition_leader_epoch=0))
    log.flush()
    log.close(clean=True)


def link_partitions(first: Path, count: int) -> Path:
    """Return a data directory with a partition and hard links to its files."""
    home = first.parent.parent / f"data-{count}"
    for number in range(count):
        partition = home / f"orders-{number}"
        partition.mkdir(parents=True)
        for file in first.iterdir():
            os.link(file, partition / file.name)
    return home


def run(command: Sequence[str], stop_after_cpu_s: float | None = None) -> Cost:
    """Run a program, and kill it after some processor time if wanted."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=INSTALLED)
    while stop_after_cpu_s is not None and process.poll() is None and _cpu_s(process.pid) < stop_after_cpu_s:
        time.sleep(_TICK_S)
    if stop_after_cpu_s is not None:
        process.kill()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Cost(used.ru_utime + used.ru_stime, time.perf_counter() - began, used.ru_maxrss / 1024, process.returncode)


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(data: Path, size_gb: float) -> None:
    """Print the rows of a size."""
    progress = data.parent / "progress"
    command = (sys.executable, "-m", "eosctl", "fsck", str(data), "--max-rate", "1000GiB")
    whole = run(command)
    resumable = run((*command, "--progress-file", str(progress)))
    killed = run((*command, "--progress-file", str(progress)), stop_after_cpu_s=resumable.cpu_s / 2)
    kept_mb = progress.stat().st_size / 1e6
    rest = run((*command, "--progress-file", str(progress)))
    for name, cost in (("whole", whole), ("with --progress-file", resumable), ("killed", killed), ("continued", rest)):
        print(
            f"| {size_gb:g} | {name} | {cost.cpu_s:.1f} | {cost.cpu_s / size_gb:.2f} | {cost.wall_s:.1f} "
            f"| {cost.peak_mb:.0f} | {kept_mb:.2f} | {cost.code} |",
            flush=True,
        )


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes-gb", default="1,4,16")
    parser.add_argument("--segment-mb", type=int, default=256)
    parser.add_argument("--batch-kb", type=int, default=16)
    parser.add_argument("--home", default=None)
    given = parser.parse_args()
    print("| GB | Run | Processor, s | Per GB, s | Wall, s | Memory, MB | Progress file, MB | Exit code |")
    print("|---:|---|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory(dir=given.home) as home:
        first = Path(home, "first", "orders-0")
        first.parent.mkdir()
        write_partition(first, GB, given.segment_mb << 20, given.batch_kb << 10)
        for size in map(int, given.sizes_gb.split(",")):
            measure(data := link_partitions(first, size), size)
            shutil.rmtree(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
