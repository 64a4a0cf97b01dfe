"""eosctl demo: its folder, its steps, and its interrupts. tests/architecture runs the whole demo."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from eosctl.demo.incident import prepare_folder
from eosctl.demo.mining import LOGS
from eosctl.demo.steps import Background, Progress, Steps
from eosctl.errors import EosctlError
from tests.commands.conftest import eosctl

LONG_S = 240


def test_an_unrelated_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    refused = eosctl("demo", "--dir", tmp_path)
    assert (refused.code, refused.out) == (2, "")
    assert "not the work of an earlier demo" in refused.err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_an_earlier_demo_gives_way_and_files_of_others_stay(tmp_path: Path) -> None:
    prepare_folder(tmp_path)
    (tmp_path / LOGS / "payments-a.log").write_text("of the earlier demo")
    (tmp_path / LOGS / "mine.log").write_text("mine")
    (tmp_path / "mine.txt").write_text("mine")
    prepare_folder(tmp_path)
    assert (tmp_path / "mine.txt").read_text() == (tmp_path / LOGS / "mine.log").read_text() == "mine"
    assert not (tmp_path / LOGS / "payments-a.log").exists()


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused = eosctl("demo", "--dir", tmp_path / "file" / "below")
    assert (refused.code, refused.out) == (2, "")
    assert "Cannot make the demo's folder" in refused.err


def test_a_step_with_another_exit_code_stops_the_demo(tmp_path: Path) -> None:
    shown: list[str] = []
    steps = Steps(tmp_path, shown.append)
    assert steps.run("""python -c 'print("as expected"); raise SystemExit(3)'""", expect=3) == "as expected\n"
    assert shown[-1] == "as expected\n"
    with pytest.raises(EosctlError, match="exit code 4, expected 0"):
        steps.run("""python -c 'print("its words"); raise SystemExit(4)'""")
    assert shown[-1] == "its words\n"


def test_background_processes_are_awaited_and_stopped(tmp_path: Path) -> None:
    steps = Steps(tmp_path, lambda text: None)
    try:
        patient = steps.begin("""python -c 'input(); print("done")'""", "patient.log")
        assert patient.finish() == "done\n"
        silent = steps.begin("""python -c 'raise SystemExit(0)'""", "silent.log")
        with pytest.raises(EosctlError, match="ended before it logged 'ready'"):
            silent.wait_for("ready")
        failing = steps.begin("""python -c 'raise SystemExit(5)'""", "failing.log")
        with pytest.raises(EosctlError, match="exit code 5, expected 0"):
            failing.finish()
        steps.begin("""python -c 'input()'""", "endless.log")
    finally:
        steps.stop_all()


def test_a_wait_shows_that_it_lasts_until_the_command_ends(tmp_path: Path) -> None:
    go_on = tmp_path / "go-on"
    shown: list[str] = []

    def show(text: str) -> None:
        shown.append(text)
        if "has been running for" in text:
            go_on.touch()

    steps = Steps(tmp_path, show, progress_every_s=0.01)
    waiting = f"""python -c 'import pathlib\nwhile not pathlib.Path("{go_on}").exists(): pass\nprint("done")'"""
    try:
        assert steps.begin(waiting, "waiting.log").finish() == "done\n"
        assert any(line.startswith("  ... python has been running for 0 s") for line in shown)
        go_on.unlink()
        shown.clear()
        assert steps.ask(waiting) == "done\n"
        assert shown
    finally:
        steps.stop_all()


class Slow:
    """A process that ends in the thousandth period of waiting for it."""

    returncode = 7

    def __init__(self) -> None:
        self.given: list[str | None] = []

    def communicate(self, given: str | None, timeout: float) -> tuple[str, None]:
        self.given.append(given)
        if len(self.given) < 1000:
            raise subprocess.TimeoutExpired("slow", timeout)
        return "done\n", None


def test_no_wait_has_a_limit(tmp_path: Path) -> None:
    process: Any = Slow()
    slow = Background("slow", process, tmp_path / "slow.log", Progress("slow", lambda text: None, 3600))
    assert slow.wait() == (7, "done\n")
    assert process.given == ["\n", *[None] * 999]


@pytest.mark.slow
def test_a_failed_spark_step_is_reported_and_the_demo_continues(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="the spark extra is not installed")
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho no memory >&2\nexit 1\n")
    java.chmod(0o755)
    scratch = Path(tempfile.mkdtemp())  # a short path, for sockets
    folder = tmp_path / "demo"
    environment = {"HOME": str(tmp_path), "JAVA_HOME": str(java.parents[1]), "TMPDIR": str(scratch)}
    done = subprocess.run(
        [sys.executable, "-m", "eosctl", "demo", "--dir", folder],
        env=os.environ | environment | {"XDG_STATE_HOME": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    _, _, last = done.stdout.partition("== 6. ")
    failed = "'eosctl logs report logs --engine spark' ended with exit code 1"
    assert failed in last
    assert "$ eosctl logs report logs --engine python" in last
    assert "ERROR  producer_fenced" in last
    assert "ERROR  hanging_transaction" in last
    assert f"Not all went well: {failed}; see {folder / 'mining.log'}." in last.partition("== Last")[2]
    assert "no memory" in (folder / "mining.log").read_text()
    assert "Traceback" not in done.stdout + done.stderr
    assert list(scratch.glob("eosctl-[ds]*")) == []


def processes_below(home: Path) -> list[int]:
    """Return the processes with this home, at any remove; none that has ended and waits to be seen."""
    wanted = f"HOME={home}".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
        except OSError:
            continue
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "moment"),
    [(signal.SIGINT, b"$ eosctl sandbox up"), (signal.SIGTERM, b"payments-a.log")],
    ids=["while the cluster starts", "while an application runs"],
)
def test_an_interrupt_leaves_nothing(number: signal.Signals, moment: bytes, tmp_path: Path) -> None:
    environment = os.environ | {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    output = tmp_path / "out.txt"
    command = [sys.executable, "-m", "eosctl", "demo", "--dir", str(tmp_path / "demo")]
    with output.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment)
    try:
        deadline = time.monotonic() + LONG_S
        while moment not in output.read_bytes():
            assert process.poll() is None, output.read_text()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(number)
        assert process.wait(LONG_S) == 130
        assert "Traceback" not in output.read_text()
        while processes_below(tmp_path):
            assert time.monotonic() < deadline, "processes are left"
            time.sleep(0.02)
    finally:
        process.kill()
        process.wait()
        for pid in processes_below(tmp_path):
            os.kill(pid, signal.SIGKILL)
