"""Compare the decoders with Kafka's DumpLogSegments: whole processes, equal files, output to /dev/null.

    python -m benchmarks.decode [--size-mb 1024] [--runs 3] [--kafka 4.3.1] [--cores N] [--eosctl PROGRAM]

Files: A holds records of 1 KiB in batches of 16 KiB, uncompressed; B records of 100 bytes, lz4; then 100,000 records of
the transaction log and of committed offsets, one a batch. The row of one batch shows the start of both programs.
`--eosctl .venv.compiled/bin/eosctl` measures the compiled build, which the targets hold for.

The first run of each warms the page cache and is not counted; the runs of both alternate, and medians are shown.
Kafka's tool needs Java and its jars (through Maven, once). With `--cores 1` both have one core: Java's compiler and
collector then take their time from the same clock.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks import as_installed
from eosctl.lab.apache.java import prepare_runtime
from eosctl.lab.apache.releases import resolve_release
from eosctl.render.decode.formats import DecodeFormat
from eosctl.wire.internal import offsets, transaction_log
from eosctl.wire.internal.transaction_log import TransactionKey, TransactionPartitions, TransactionValue
from eosctl.wire.messages.internal.consumer_offsets.offset_commit import OffsetCommitKey, OffsetCommitValue
from eosctl.wire.records.batch import encode_batch, with_offset
from eosctl.wire.records.compression import Compression
from eosctl.wire.records.record import Record

LOG = "00000000000000000000.log"
DUMP = "org.apache.kafka.tools.DumpLogSegments"
INSTALLED = as_installed()
START_MS = 1_795_253_419_624


class Case(NamedTuple):
    """A row of the table: both commands, and the target factor of the compiled build."""

    name: str
    file: Path
    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    target: float


def write_batches(path: Path, size: int, batches: Sequence[bytes], records: int) -> None:
    """Write copies of batches with increasing offsets until the file has its size."""
    path.parent.mkdir(parents=True)
    offset = written = 0
    with path.open("wb") as file:
        while written < size:
            for batch in batches:
                file.write(with_offset(batch, offset, 0))
                offset += records
                written += len(batch)


def data_batches(chance: random.Random, record_bytes: int, records: int, codec: Compression) -> list[bytes]:
    words = [chance.randbytes(4).hex().encode() for _ in range(500)]
    text = b" ".join(chance.choices(words, k=200_000))
    batches = []
    for _ in range(64):
        content = [
            Record(0, START_MS + n, b"key-%d" % n, text[(at := chance.randrange(1_000_000)) : at + record_bytes])
            for n in range(records)
        ]
        batches.append(encode_batch(content, codec=codec, producer_id=7, producer_epoch=0, base_sequence=0))
    return batches


def transaction_batches() -> Iterator[bytes]:
    for n in range(1_000):
        key = transaction_log.encode_key(TransactionKey(f"payments-processor-{n % 512}"))
        value = TransactionValue(
            producer_id=4_000 + n,
            producer_epoch=n % 100,
            transaction_timeout_ms=60_000,
            transaction_status=n % 6,
            transaction_partitions=(TransactionPartitions("payments", (0, 1, 2)),),
            transaction_last_update_timestamp_ms=START_MS + n,
            transaction_start_timestamp_ms=START_MS,
        )
        yield encode_batch([Record(0, START_MS + n, key, transaction_log.encode_value(value, 1))])


def offset_batches() -> Iterator[bytes]:
    for n in range(1_000):
        key = offsets.encode_key(OffsetCommitKey(f"group-{n % 50}", "payments", n % 12))
        value = offsets.encode_value(OffsetCommitValue(n * 100, 3, "", START_MS + n), 3)
        yield encode_batch([Record(0, START_MS + n, key, value)])


def build_cases(directory: Path, size: int) -> list[Case]:
    """Write the files and return the cases."""
    chance = random.Random(1)
    plain, small = directory / "plain-0" / LOG, directory / "small-0" / LOG
    one = directory / "one-0" / LOG
    txn, commits = directory / "__transaction_state-0" / LOG, directory / "__consumer_offsets-0" / LOG
    write_batches(plain, size, data_batches(chance, 1_000, 16, Compression.NONE), 16)
    write_batches(one, 1, data_batches(chance, 1_000, 16, Compression.NONE)[:1], 16)
    write_batches(small, size // 5, data_batches(chance, 100, 150, Compression.LZ4), 150)
    for path, batches in ((txn, list(transaction_batches())), (commits, list(offset_batches()))):
        write_batches(path, 100 * sum(map(len, batches)), batches, 1)
    deep, data = ("--deep-iteration",), ("--print-data-log",)
    ours = ("decode", "segment", "-o", "tsv")
    none = ("--keys", "none", "--values", "none")
    with_content = [
        Case(f"{name} records with content, {form}", file, ("decode", "segment", "-r", "-o", form), data, 5)
        for name, file in (("A", plain), ("B", small))
        for form in DecodeFormat
    ]
    return [
        Case("start: one batch", one, (*ours, "-r"), data, 5),
        Case("A batches", plain, ours, (), 5),
        Case("A records", plain, (*ours, "-r", *none), deep, 5),
        Case("B batches (lz4)", small, ours, (), 5),
        Case("B records (lz4)", small, (*ours, "-r", *none), deep, 5),
        *with_content,
        Case("transaction log", txn, ("decode", "txn-log", "-o", "tsv"), ("--transaction-log-decoder",), 5),
        Case("committed offsets", commits, ("decode", "offsets", "-o", "tsv"), ("--offsets-decoder",), 5),
    ]


class Cost(NamedTuple):
    """Wall-clock and processor time of a process, in seconds."""

    wall: float
    cpu: float


def run(command: Sequence[str]) -> Cost:
    """Run a program once."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, env=INSTALLED)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def measure(commands: Sequence[Sequence[str]], runs: int) -> list[Cost]:
    """Run programs alternately and return the medians of each; the first round does not count."""
    turns = [[run(command) for command in commands] for _ in range(runs + 1)][1:]
    return [Cost(*map(statistics.median, zip(*costs, strict=True))) for costs in zip(*turns, strict=True)]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--size-mb", type=int, default=1024)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--kafka", default="4.3.1")
    parser.add_argument("--only", default="", help="part of the names of the rows to measure")
    parser.add_argument("--eosctl", type=Path, help="the program to measure; this Python's by default")
    parser.add_argument("--cores", type=int, help="cores that either program may use; all by default")
    options = parser.parse_args()
    if options.cores:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.cores])
    runtime = prepare_runtime(resolve_release(options.kafka))
    program = [sys.executable, "-m", "eosctl"] if options.eosctl is None else [str(options.eosctl.absolute())]
    head = [f"{name:>7}" for name in ("Kafka", "eosctl", "wall", "Kafka", "eosctl", "cpu", "target")]
    print(f"{'':<30} {'MB':>6}", *head)
    with tempfile.TemporaryDirectory(prefix="eosctl-bench-") as directory:
        for case in build_cases(Path(directory), options.size_mb << 20):
            if options.only not in case.name:
                continue
            dump = runtime.command(DUMP, "--files", str(case.file), *case.theirs, heap_bytes=512 << 20)
            ours_command = [*program, *case.ours, str(case.file)]
            theirs, ours = measure([dump, ours_command], options.runs)
            columns = [f"{case.name:<30} {case.file.stat().st_size / 1e6:>6.0f}"]
            for their, our in zip(theirs, ours, strict=True):
                columns.append(f"{their:>6.2f}s {our:>6.2f}s {their / our:>5.1f}x")
            print(*columns, f"{case.target:>5}x", flush=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"largest child: {peak:.0f} MiB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
