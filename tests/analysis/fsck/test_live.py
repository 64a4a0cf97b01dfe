"""Directories that a broker writes to meanwhile: no alarm of what is only half done, every one of what stays."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from eosctl.collect.data_dirs import Inspected, inspect_data_dirs, is_in_use
from eosctl.model.fsck import FsckSeverity
from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from eosctl.storage.scan import LogBatch, scan_log
from eosctl.storage.survey import survey_data_dir
from eosctl.storage.throttled_reader import ThrottledReader
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.commands.decode.running import run
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness
from tests.storage.cases import FIXTURES

LOG = f"{0:020d}.log"
#: Takes a file's lock as a broker does, until a line comes.
HOLD = (
    "import fcntl, sys; f = open(sys.argv[1], 'r+b'); fcntl.lockf(f, fcntl.LOCK_EX); print('held', flush=True); input()"
)


def nothing(*_: object) -> None:
    pass


def alarms(found: Inspected) -> list[tuple[str, str]]:
    return [(f.kind, f.partition) for f in found.findings if f.severity is not FsckSeverity.INFO]


def inspect(
    *directories: Path, report: Callable[[str], None] = nothing, pause: Callable[[], None] = nothing
) -> Inspected:
    return inspect_data_dirs([survey_data_dir(directory) for directory in directories], os.pread, pause, report)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(FIXTURES / "k431-tv2-transactions" / "data", tmp_path / "data")
    return tmp_path / "data"


def test_a_half_appended_batch_is_a_finding_only_if_it_stays(copy: Path) -> None:
    log = copy / "transfers-0" / LOG
    whole = log.read_bytes()

    def append(name: str) -> None:
        if name == "transfers-1":
            log.write_bytes(whole)

    log.write_bytes(whole[:-20])
    found = inspect(copy, report=append)
    assert (alarms(found), found.is_live) == ([], True)

    log.write_bytes(whole[:-20])
    other = copy / "transfers-1" / LOG
    found = inspect(copy, report=lambda _: os.utime(other))
    assert (("torn-batch", "transfers-0") in alarms(found), found.is_live) == (True, True)

    found = inspect(copy, pause=lambda: pytest.fail("nobody writes here"))
    assert (("torn-batch", "transfers-0") in alarms(found), found.is_live) == (True, False)


@pytest.mark.parametrize("transaction_version", [1, 2])
def test_a_busy_cluster_is_clean_but_for_a_hanging_transaction(tmp_path: Path, transaction_version: int) -> None:
    settings = {
        "transaction.state.log.num.partitions": "2",
        "offsets.topic.num.partitions": "2",
        "transaction.partition.verification.enable": "false",
    }
    harness = Harness(tmp_path, ClusterShape(3, Emulation("4.3"), transaction_version, settings, fast=True))
    client = EosClient(harness, implicit=transaction_version == 2)
    for topic in ("orders", "payments"):
        client.create_topic(topic, replicas=3)
    producers = [client.init(f"app-{number}") for number in range(4)]
    steps = 0

    def work(_: str) -> None:
        """Move every producer to another state of its transactions each time that the reader continues."""
        nonlocal steps
        steps += 1
        for number, producer in enumerate(producers):
            topic = ("orders", "payments")[(steps + number) % 2]
            if (steps + number) % 3:
                assert client.produce(producer, TopicPartition(topic, 0), [f"{steps}"]) is ErrorCode.NONE
            elif producer.added:
                assert client.end(producer, commit=bool(steps % 2)) is ErrorCode.NONE

    directories = [harness.core.directory_of(node) for node in harness.core.node_ids]
    suspicious = 0
    for _ in range(6):
        found = inspect(*directories, report=work, pause=lambda: harness.advance(100))
        assert alarms(found) == []
        suspicious += found.is_live
    assert suspicious, "one reading alone would have raised no alarm either: the test shows nothing"

    below_tv2 = EosClient(harness, implicit=False)  # at TV2 the broker would ask for the batch's transaction
    answer = below_tv2.append(TopicPartition("orders", 0), stranger_batch(harness), "stranger")
    assert answer is not None
    assert not answer.error_code
    found = inspect(*directories, report=work, pause=lambda: harness.advance(100))
    assert set(alarms(found)) == {("hanging-transaction", "orders-0")}
    harness.close()


def stranger_batch(harness: Harness) -> bytes:
    now_ms = harness.core.brokers()[0].runtime.now_ms()
    return encode_batch(
        [Record(0, now_ms, None, b"{}")], producer_id=7_777_777, producer_epoch=0, base_sequence=0, transactional=True
    )


def test_a_broker_that_uses_a_directory_is_reported(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock = copy / ".lock"
    lock.touch()
    assert not is_in_use([survey_data_dir(copy)])
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == b"held\n"
        assert is_in_use([survey_data_dir(copy)])
        ran = run(capsys, "fsck", copy)
        assert (ran.code, "both readings" in ran.err) == (0, True)
    finally:
        holder.communicate(b"\n")


def test_reading_keeps_to_its_rate_and_gives_the_same() -> None:
    log = FIXTURES / "k431-tv2-transactions" / "data" / "transfers-0" / LOG
    clock = 0.0
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        nonlocal clock
        clock += seconds
        slept.append(seconds)

    reader = ThrottledReader(1_000, lambda: clock, sleep)
    with log.open("rb") as file:
        for position in range(0, 5_000, 500):
            assert reader.read(file.fileno(), 500, position) == os.pread(file.fileno(), 500, position)
        assert reader.read(file.fileno(), 500, log.stat().st_size) == b""
    assert 4.0 <= sum(slept) <= 5.0

    def batches(**how: object) -> list[tuple[int, bool]]:
        found = scan_log(log, **how)  # type: ignore[arg-type]
        return [(batch.position, batch.crc_valid) for batch in found if isinstance(batch, LogBatch)]

    assert batches(read=ThrottledReader(1 << 30, lambda: clock, sleep).read) == batches()


def test_a_rate_that_is_none_is_refused(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for rate in ("fast", "0MiB", "5 apples"):
        ran = run(capsys, "fsck", copy, "--max-rate", rate)
        assert (ran.code, "--max-rate" in ran.err) == (2, True)
    assert run(capsys, "fsck", copy, "--max-rate", "100MiB").code == 0
