"""The program around its commands: help, exit codes, errors, streams."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from eosctl import __version__
from eosctl.command_line.invocation import write_file
from eosctl.commands.doctor import doctor
from eosctl.errors import EosctlError
from tests.commands.conftest import eosctl

ROOT = Path(__file__).parent.parent.parent
HEAVY = ("confluent_kafka", "yaml", "jmxquery", "pyspark", "pyarrow", "pandas", "eosctl.sandbox", "asyncio", "jinja2")


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version(option: str) -> None:
    assert eosctl(option) == (0, f"eosctl {__version__}\n", "")


def test_the_version_names_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eosctl.__file__", str(tmp_path / "__init__.py"))
    (tmp_path / "sandbox").mkdir()
    for names, build in (((), "pure Python"), (("log.cpython-313.so", "core.pyd"), "2 compiled modules")):
        for name in names:
            (tmp_path / "sandbox" / name).touch()
        items = eosctl("version", "-o", "json").json["items"]
        assert {"component": "build", "version": build} in items


def test_help_shows_the_panels_in_the_order_of_the_work() -> None:
    done = eosctl("--help")
    assert done.code == 0
    places = [
        done.out.index(panel) for panel in ("Start here:", "Diagnose:", "Repair:", "Monitor:", "Configure:", "Lab:")
    ]
    assert places == sorted(places)


def test_every_command_has_help() -> None:
    commands = ["doctor", "check list", "check explain", "check run", "txn list", "txn describe", "txn hanging",
                "txn abort", "sandbox up", "sandbox down", "sandbox status", "sandbox logs", "sandbox scenario",
                "sandbox exec", "schema", "version"]  # fmt: skip
    for command in commands:
        done = eosctl(*command.split(), "-h")
        assert (done.code, done.err) == (0, ""), command


def test_help_loads_nothing_heavy() -> None:
    script = (
        "import sys, eosctl.cli; sys.argv = ['eosctl', '--help']; code = eosctl.cli.main(); "
        f"print([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_usage_errors_are_2_and_keep_standard_output_clean() -> None:
    for arguments in (["nonsense"], ["doctor", "--nonsense"], ["doctor", "-o", "nonsense"], ["txn", "abort"],
                      ["doctor", "--timeout", "soon"]):  # fmt: skip
        done = eosctl(*arguments)
        assert (done.code, done.out) == (2, ""), arguments
        assert done.err


def test_an_error_is_three_lines(tmp_path: Path) -> None:
    done = eosctl("doctor", "--snapshot", tmp_path / "missing.json")
    assert (done.code, done.out) == (2, "")
    what, why, next_step = done.err.splitlines()
    assert what.startswith("error: Cannot read")
    assert why == "  why: No such file or directory"
    assert next_step.startswith("  next: ")


def test_an_error_under_json_is_an_object_on_standard_output(tmp_path: Path) -> None:
    done = eosctl("doctor", "--snapshot", tmp_path / "missing.json", "-o", "json")
    assert done.code == 2
    assert done.err.startswith("error: ")
    jsonschema.validate(done.json, json.loads((ROOT / "docs" / "schemas" / "error.json").read_text()))
    assert (done.json["type"], done.json["exit_code"]) == ("ConfigFileError", 2)


def test_a_defect_is_three_lines_too_unless_debugging(snapshot_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> int:
        raise ZeroDivisionError("a bug" + " of a whole file" * 100)

    monkeypatch.setattr(doctor, "write_diagnosis", broken)
    done = eosctl("doctor", "--snapshot", snapshot_file)
    assert done.code == 1
    assert "ZeroDivisionError" in done.err
    assert "Traceback" not in done.err
    assert "eosctl --debug" in done.err
    assert len(done.err) < 1_000
    with pytest.raises(ZeroDivisionError):
        eosctl("--debug", "doctor", "--snapshot", snapshot_file)


def test_debug_shows_where_an_error_came_from(tmp_path: Path) -> None:
    with pytest.raises(EosctlError):
        eosctl("--debug", "doctor", "--snapshot", tmp_path / "missing.json")


def run(*arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "eosctl", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_a_closed_pipe_is_quiet(snapshot_file: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "eosctl", "doctor", "--snapshot", str(snapshot_file), "-o", "json"],
            stdout=closed,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.stderr == b""
    assert done.returncode != 0


def test_an_interrupt_is_130_without_a_traceback() -> None:
    # No process answers on this socket, so the program waits until it is interrupted.
    import socket

    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        process = run("doctor", "-b", f"127.0.0.1:{silent.getsockname()[1]}")
        connection, _ = silent.accept()
        with connection:
            process.send_signal(signal.SIGINT)
            out, err = process.communicate()
    assert process.returncode == 130
    assert out == b""
    assert b"Traceback" not in err


class TestFilesOfTheUser:
    def test_a_file_next_to_the_result_is_not_lost(self, tmp_path: Path) -> None:
        (tmp_path / "result.tmp").write_text("mine")
        write_file("new", tmp_path / "result")
        assert (tmp_path / "result").read_text() == "new"
        assert {path.name: path.read_text() for path in tmp_path.iterdir() if path.suffix} == {"result.tmp": "mine"}

    def test_permissions_and_links_stay(self, tmp_path: Path) -> None:
        (tmp_path / "result").write_text("# eosctl doctor\n")
        (tmp_path / "result").chmod(0o640)
        (tmp_path / "link").symlink_to("result")
        write_file("# eosctl doctor\nnew", tmp_path / "link")
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "result").read_text() == "# eosctl doctor\nnew"
        assert (tmp_path / "result").stat().st_mode & 0o777 == 0o640

    def test_a_pipe_is_written_to_and_not_replaced(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        try:
            write_file("new", pipe)
            assert os.read(reader, 10) == b"new"
        finally:
            os.close(reader)
        assert pipe.is_fifo()
