"""sandbox: a detached cluster from the command line, and its failures."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from eosctl.sandbox.process.identity import is_readable_within
from tests.commands.conftest import Done, eosctl

ROOT = Path(__file__).parent.parent.parent


def up(*options: str) -> Done:
    """Start a sandbox as a shell does: by a process that ends, so that the sandbox has no parent."""
    command = [sys.executable, "-m", "eosctl", "sandbox", "up", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def sandbox(own_home: Path, request: pytest.FixtureRequest) -> dict[str, object]:
    done = up("--brokers", "1", "--ephemeral", "--ttl", "5m", "-o", "json")
    assert done.code == 0, done.err
    request.addfinalizer(lambda: eosctl("sandbox", "down", "--all"))
    jsonschema.validate(done.json, json.loads((ROOT / "docs" / "schemas" / "sandboxes.json").read_text()))
    item: dict[str, object] = done.json["items"][0]
    return item


def test_the_only_sandbox_needs_no_name(request: pytest.FixtureRequest) -> None:
    assert up("--name", "only", "--brokers", "1", "--ephemeral", "--ttl", "5m").code == 0
    request.addfinalizer(lambda: eosctl("sandbox", "down", "--all"))
    assert eosctl("sandbox", "exec", "--", "true").code == 0


def test_life_of_a_sandbox(sandbox: dict[str, object]) -> None:
    assert sandbox["running"] is True
    (row,) = eosctl("sandbox", "status", "-o", "tsv").rows
    assert row[:3] == ["default", "running", sandbox["bootstrap"]]
    detail = eosctl("sandbox", "status", "--name", "default", "-o", "json").json["items"][0]
    assert [broker["id"] for broker in detail["cluster"]["brokers"]] == [1]

    played = eosctl("sandbox", "scenario", "zombie", "-o", "json")
    assert played.code == 0
    jsonschema.validate(played.json, json.loads((ROOT / "docs" / "schemas" / "scenario-verdict.json").read_text()))
    assert played.json["items"][0]["holds"] is True
    again = eosctl("sandbox", "scenario", "zombie")
    assert again.code == 0, again.out
    assert "Next: eosctl doctor -b" in again.out
    assert "EOS-TXN-004" in eosctl("doctor", "-b", str(sandbox["bootstrap"]), "-o", "tsv").out

    script = "import os, sys; sys.exit(7 if os.environ['BOOTSTRAP_SERVERS'] == sys.argv[1] else 1)"
    assert eosctl("sandbox", "exec", "--", sys.executable, "-c", script, str(sandbox["bootstrap"])).code == 7
    assert eosctl("sandbox", "exec", "--name", "another", "--", "true").code == 2
    assert eosctl("sandbox", "logs").code == 0

    again = eosctl("sandbox", "up")
    assert again.code == 2
    assert "is running" in again.err

    assert eosctl("sandbox", "down").out == "Sandbox default: stopped\n"
    assert eosctl("sandbox", "status").out == "No sandbox.\n"
    assert not Path(str(sandbox["data_dir"])).exists()
    idle = eosctl("sandbox", "down")
    assert (idle.code, idle.out) == (0, "")


def test_the_refused_scenario_says_what_to_set(sandbox: dict[str, object]) -> None:
    done = eosctl("sandbox", "scenario", "hanging")
    assert (done.code, done.out) == (2, "")
    assert "transaction.partition.verification.enable=false" in done.err


def test_a_killed_sandbox_is_recognized_and_cleared(sandbox: dict[str, object]) -> None:
    handle = os.pidfd_open(int(str(sandbox["pid"])))
    signal.pidfd_send_signal(handle, signal.SIGKILL)
    assert is_readable_within(handle, 60)
    os.close(handle)
    (row,) = eosctl("sandbox", "status", "-o", "tsv").rows
    assert row[1] == "gone"
    refused = eosctl("sandbox", "scenario", "zombie")
    assert refused.code == 2
    assert "not running any more" in refused.err
    assert eosctl("sandbox", "down").out == "Sandbox default: gone\n"


def test_a_port_in_use() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = up("--brokers", "1", "--port-base", port)
    assert (done.code, done.out) == (1, "")
    assert port in done.err
    assert "Traceback" not in done.err


def test_a_data_directory_that_cannot_be_written(own_home: Path) -> None:
    blocked = own_home / "file"
    blocked.write_text("not a folder")
    done = up("--brokers", "1", "--data-dir", str(blocked / "data"))
    assert (done.code, done.out) == (1, "")
    assert str(blocked) in done.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--config", "novalue"], "KEY=VALUE"),
        (["--emulate", "2.8"], "3.9, 4.3, or 4.4"),
        (["--name", "../escape"], "cannot be the name"),
        (["--brokers", "0"], "--brokers"),
        (["--brokers", "2", "--processes", "3"], "Use more brokers or fewer processes."),
        (["--engine", "apache", "--processes", "2"], "--processes cannot be used with --engine apache."),
    ],
)
def test_bad_options(options: list[str], words: str) -> None:
    done = eosctl("sandbox", "up", *options)
    assert (done.code, done.out) == (2, "")
    assert words in done.err


def test_unknown_sandboxes_and_scenarios() -> None:
    for arguments in (["scenario", "zombie"], ["exec", "--", "true"], ["status", "--name", "nobody"]):
        done = eosctl("sandbox", *arguments)
        assert (done.code, done.out) == (2, ""), arguments
        assert "eosctl sandbox up" in done.err
    assert eosctl("sandbox", "scenario", "nonsense").code == 2
    assert eosctl("sandbox", "logs").code == 1


def test_scenarios_are_listed() -> None:
    rows = eosctl("sandbox", "scenario", "-o", "tsv").rows
    assert {"zombie", "hanging"} <= {row[0] for row in rows}
