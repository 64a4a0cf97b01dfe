"""A recorded process is ended by its record and by nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from eosctl.lab.apache.process import RecordedProcess, end_recorded, read_record
from eosctl.lab.engine import EngineError
from eosctl.sandbox.process.identity import start_ticks

# Says that it has set up its signals, then waits for one for ever.
DEAF = "import os, signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); os.write(1, b'.'); signal.pause()"
POLITE = "import os, signal; os.write(1, b'.'); signal.pause()"


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "node.pid"


@pytest.fixture
def start(record: Path) -> Iterator[Callable[[str], RecordedProcess]]:
    """Start a program and return once it reports readiness."""
    started: list[RecordedProcess] = []

    def run(program: str) -> RecordedProcess:
        output = record.with_suffix(".out")
        os.mkfifo(output)
        reader = os.open(output, os.O_RDONLY | os.O_NONBLOCK)  # a pipe opens for writing only with a reader
        try:
            process = RecordedProcess([sys.executable, "-c", program], output=output, record=record)
            started.append(process)
            os.set_blocking(reader, True)
            assert os.read(reader, 1) == b"."
        finally:
            os.close(reader)
        return process

    yield run
    for process in started:
        process.end(signal.SIGKILL, patience_ms=10_000)


def test_a_process_is_recorded_and_ended(record: Path, start) -> None:
    process = start(POLITE)
    assert read_record(record) == process.identity
    assert process.exit_code is None
    process.end(signal.SIGTERM, patience_ms=10_000)
    assert process.exit_code == -signal.SIGTERM
    assert read_record(record) is None
    assert not record.exists()


def test_a_process_that_ignores_the_first_signal_is_killed(record: Path, start) -> None:
    process = start(DEAF)
    process.end(signal.SIGTERM, patience_ms=50)
    assert process.exit_code == -signal.SIGKILL


def test_what_an_interrupted_run_left_is_found_and_ended(record: Path, start) -> None:
    process = start(POLITE)
    process.send(signal.SIGSTOP)
    assert end_recorded(record, patience_ms=10_000)
    assert process.exit_code == -signal.SIGTERM
    assert not end_recorded(record, patience_ms=0)


def test_a_second_process_on_the_same_record_is_refused(record: Path, start) -> None:
    process = start(POLITE)
    with pytest.raises(EngineError, match=f"Process {process.identity.pid} already runs"):
        RecordedProcess([sys.executable, "-c", "pass"], output=record.with_suffix(".other"), record=record)


def test_another_process_with_the_recorded_pid_is_left_alone(record: Path) -> None:
    innocent = subprocess.Popen([sys.executable, "-c", POLITE], stdout=subprocess.DEVNULL)
    try:
        ticks = start_ticks(innocent.pid)
        assert ticks is not None
        record.write_text(f"{innocent.pid} {ticks - 1}\n", "utf-8")
        assert read_record(record) is None
        assert not end_recorded(record, patience_ms=0)
        assert innocent.poll() is None
    finally:
        innocent.kill()
        innocent.wait()


@pytest.mark.parametrize("text", ["", "not numbers\n", "1\n", "1 2 3\n"])
def test_an_unreadable_record_names_no_process(record: Path, text: str) -> None:
    record.write_text(text, "utf-8")
    assert read_record(record) is None


def test_a_command_that_does_not_exist_is_named(record: Path) -> None:
    with pytest.raises(EngineError, match="/no/such/java could not be started"):
        RecordedProcess(["/no/such/java"], output=record.with_suffix(".out"), record=record)
    assert not record.exists()
