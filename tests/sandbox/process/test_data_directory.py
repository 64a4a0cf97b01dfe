"""A data directory is used by sandboxes alone, and loses nothing that a sandbox did not write."""

from __future__ import annotations

import os
import re
import signal
import socket
from pathlib import Path
from typing import Any

import pytest

from eosctl.errors import UsageError
from eosctl.sandbox.process import manage, paths
from eosctl.sandbox.process.data_directory import LOCK_NAME, MARKER_NAME, DataDirectory, files_left, remove_data
from eosctl.sandbox.process.identity import wait_for_exit
from eosctl.sandbox.process.own_files import planned
from eosctl.sandbox.process.spec import SandboxSpec
from eosctl.storage.partition_metadata import write_partition_metadata
from tests.commands.conftest import eosctl

KEPT = "kept for ten years"


pytestmark = pytest.mark.usefixtures("own_sandboxes")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def run_once(data: Path, *, ephemeral: bool = False, name: str = "test", emulate: str = "4.4") -> None:
    manage.stop(manage.start(SandboxSpec(name, str(data), fast=True, ephemeral=ephemeral, emulate=emulate)))


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def without_marker(data: Path) -> set[str]:
    """Make the directory that an earlier release left."""
    run_once(data)
    (data / MARKER_NAME).unlink()
    return files(data)


@pytest.mark.parametrize("ephemeral", [True, False])
def test_a_directory_with_other_files_is_rejected_unchanged(data: Path, ephemeral: bool) -> None:
    data.mkdir()
    (data / "ledger.txt").write_text(KEPT)
    for _ in range(2):  # What the first refusal leaves must not admit the second start.
        with pytest.raises(UsageError, match="not empty, and eosctl did not create"):
            run_once(data, ephemeral=ephemeral)
    assert files(data) == {"ledger.txt"}


def test_files_that_others_put_there_meanwhile_stay(data: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "server.log").write_text(KEPT)
    sandbox = manage.start(SandboxSpec("test", str(data), fast=True, ephemeral=True))
    theirs = {"ledger.txt", "broker-1/notes.txt", "logs/mine.log", "backup/00000000000000000000.log"}
    for name in theirs:
        (data / name).parent.mkdir(exist_ok=True)
        (data / name).write_text(KEPT)
    (data / "broker-1" / "link").symlink_to(elsewhere)
    (data / "broker-9").symlink_to(elsewhere)
    manage.stop(sandbox)
    assert {name for name in files(data) if not (data / name).is_dir()} == theirs
    assert (data / "broker-1" / "link").is_symlink()
    assert (elsewhere / "server.log").read_text() == KEPT


SECURED = ("security/mine.pem", "security/app.properties", "security/certs/prod-key.pem", "logs/mine/server.log")
COPIES = (
    "broker-1/orders-0/00000000000000000000.log", "broker-1/server.properties", "broker-5/server.properties",
    "broker-5/logs/server.log", "broker-1/restore-0/00000000000000000042.log", "logs/broker-1/orders.log",
    "broker-1/__transaction_state-0/mine.log", "node-1/server.properties", "controller-100/meta.properties",
)  # fmt: skip


@pytest.mark.parametrize("killed", [False, True])
def test_files_of_other_programs_with_node_names_stay(data: Path, killed: bool) -> None:
    spec = SandboxSpec("test", str(data), fast=True, ephemeral=True, sasl=("PLAIN",), users=("admin", "alice"))
    sandbox = manage.start(spec)
    played = eosctl("sandbox", "scenario", "zombie", "--name", "test")
    assert played.code == 0, played.err
    assert list(data.glob("broker-1/__transaction_state-*/*.log"))
    foreign = data / "broker-1" / "foreign-0"
    for name in (*SECURED, *COPIES, "broker-1/foreign-0/00000000000000000000.log"):
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text(KEPT)
    write_partition_metadata(foreign / "partition.metadata", bytes(range(16)))  # a topic of another cluster
    if killed:
        os.kill(sandbox.pid, signal.SIGKILL)
        assert wait_for_exit(sandbox.pid, sandbox.process_start_ticks, 10)
    manage.stop(sandbox)
    theirs = {*SECURED, *COPIES, "broker-1/foreign-0/00000000000000000000.log", "broker-1/foreign-0/partition.metadata"}
    assert files(data) == theirs
    assert files_left(data) == sorted(theirs)


def test_files_of_real_brokers_go(data: Path) -> None:
    spec = SandboxSpec("test", str(data), ephemeral=True, kafka="4.3.1")
    directory = DataDirectory(data, ephemeral=True, planned=planned(spec))
    written = ("server.properties", "node.pid", "logs/server.log", "logs/jvm.out", "data/meta.properties")
    written += ("data/__cluster_metadata-0/00000000000000000000.log", "data/bootstrap.checkpoint")
    theirs = {"node-1/data/orders-0/00000000000000000000.log", "node-1/logs/mine.log", "node-2/server.properties"}
    for name in (*(f"node-1/{name}" for name in written), *theirs):
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text(KEPT)
    (data / "logs").mkdir()
    (data / "logs" / "broker-1").symlink_to("../node-1/logs")
    (data / "logs" / "broker-2").symlink_to("../node-2/logs")
    directory.release(remove=True)
    assert files(data) == theirs | {"logs/broker-2"}


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({"emulate": "4.3"}, {"emulate": "3.9"}, "written by Kafka 4.3, as emulated"),
        ({}, {"kafka": "4.3.1"}, "are those of brokers of eosctl"),
        ({"kafka": "4.3.1"}, {}, "are those of real Kafka 4.3.1"),
        ({}, {"brokers": 3}, "has its controllers in broker-1"),
        ({"brokers": 2}, {"brokers": 2, "controllers": 3}, "has its controllers in controller-100"),
        ({"kafka": "4.3.1"}, {"kafka": "4.3.1", "brokers": 3}, "has its controllers in node-1"),
    ],
)
def test_files_that_a_sandbox_cannot_continue(
    data: Path, before: dict[str, Any], after: dict[str, Any], words: str
) -> None:
    DataDirectory(data, planned=planned(SandboxSpec("test", str(data), **before))).release(remove=False)
    left = {name: (data / name).read_bytes() for name in files(data)}
    with pytest.raises(UsageError, match=words):
        manage.start(SandboxSpec("test", str(data), **after))
    assert {name: (data / name).read_bytes() for name in files(data)} == left


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"emulate": "3.9"}, {"emulate": "4.4"}),
        ({"kafka": "4.2.2"}, {"kafka": "4.0.2"}),
        ({"brokers": 3}, {"brokers": 2}),
    ],
)
def test_files_that_a_sandbox_continues(data: Path, before: dict[str, Any], after: dict[str, Any]) -> None:
    DataDirectory(data, planned=planned(SandboxSpec("test", str(data), **before))).release(remove=False)
    DataDirectory(data, planned=planned(SandboxSpec("test", str(data), **after))).release(remove=False)


def test_a_directory_older_than_its_node_is_not_the_sandboxs(data: Path) -> None:
    run_once(data)
    theirs = data / "broker-2" / "meta.properties"
    theirs.parent.mkdir()
    theirs.write_text(KEPT)
    with pytest.raises(UsageError):
        manage.start(SandboxSpec("test", str(data), brokers=2, fast=True, ephemeral=True))
    run_once(data, ephemeral=True)
    assert files(data) == {"broker-2/meta.properties"}


def test_an_empty_directory_of_the_user_stays_and_a_new_one_goes(data: Path) -> None:
    run_once(data, ephemeral=True)
    assert not data.exists()
    data.mkdir()
    run_once(data, ephemeral=True)
    assert list(data.iterdir()) == []


def test_a_start_that_fails_removes_only_what_it_wrote(data: Path) -> None:
    run_once(data)
    before = files(data)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for directory in (data, data.with_name("new")):
            with pytest.raises(manage.SandboxFailed, match=f"Port {port}"):
                manage.start(SandboxSpec("test", str(directory), fast=True, ephemeral=True, port_base=port))
    assert before <= files(data)
    assert not data.with_name("new").exists()


def test_a_start_that_fails_leaves_the_release_of_the_files(data: Path) -> None:
    run_once(data, emulate="3.9")
    marked = (data / MARKER_NAME).read_bytes()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(manage.SandboxFailed, match=f"Port {port}"):
            manage.start(SandboxSpec("test", str(data), fast=True, emulate="4.4", port_base=port))
    assert (data / MARKER_NAME).read_bytes() == marked
    run_once(data, emulate="4.4")
    with pytest.raises(UsageError, match=re.escape("written by Kafka 4.4, as emulated")):
        run_once(data, emulate="3.9")


def test_a_marked_directory_is_used_again(data: Path) -> None:
    run_once(data)
    assert (data / MARKER_NAME).is_file()
    run_once(data)
    run_once(data, ephemeral=True)
    assert not data.exists()


def test_files_of_an_earlier_release_are_used_but_never_removed(data: Path) -> None:
    before = without_marker(data)
    with pytest.raises(UsageError, match="no marker"):
        run_once(data, ephemeral=True)
    assert files(data) == before
    run_once(data)
    assert not (data / MARKER_NAME).exists()
    (data / LOCK_NAME).unlink()
    run_once(data)  # By its meta.properties, as a copy of the nodes' directories has nothing else.


def test_an_ephemeral_sandbox_leaves_what_its_name_kept_before(data: Path) -> None:
    own = paths.default_data_dir("test")
    run_once(own)
    kept = files(own)
    run_once(data, ephemeral=True)
    assert kept <= files(own)


def test_files_of_a_killed_ephemeral_sandbox_are_removed(data: Path) -> None:
    sandbox = manage.start(SandboxSpec("test", str(data), fast=True, ephemeral=True))
    os.kill(sandbox.pid, signal.SIGKILL)
    assert wait_for_exit(sandbox.pid, sandbox.process_start_ticks, 10)
    (data / "ledger.txt").write_text(KEPT)
    assert manage.stop(sandbox) == "gone"
    assert files(data) == {"ledger.txt"}


def test_a_removal_continues_after_a_kill(data: Path) -> None:
    run_once(data)
    for name in files(data) - {MARKER_NAME, LOCK_NAME}:
        (data / name).unlink()
    remove_data(data)
    assert not data.exists()


def test_nothing_is_removed_without_a_marker_or_while_in_use(data: Path) -> None:
    before = without_marker(data)
    remove_data(data)
    assert files(data) == before
    other = data.with_name("other")
    manage.start(SandboxSpec("test", str(other), fast=True))
    before = files(other)
    remove_data(other)
    assert before <= files(other)
