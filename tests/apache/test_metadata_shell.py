"""Kafka's metadata shell walks through a sandbox's metadata log and through its snapshots."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.lab.apache.java import Runtime, prepare_runtime, run_tool
from eosctl.lab.engine import MissingTool
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.metadata.log import METADATA_PARTITION
from eosctl.sandbox.metadata.snapshot import find_snapshots
from eosctl.sandbox.ports import Emulation
from eosctl.storage.names import partition_directory_name
from tests.apache.libraries import library
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness

pytestmark = pytest.mark.apache

SHELL = "org.apache.kafka.shell.MetadataShell"
PROMPT = ">> "
TOPICS = ["orders", "returns"]
SETTINGS = {"metadata.log.max.record.bytes.between.snapshots": "400"}


@pytest.fixture(scope="module")
def shell() -> Runtime:
    try:
        return prepare_runtime(library("shell-4.3.1", "org.apache.kafka:kafka-shell:4.3.1"))
    except MissingTool as missing:
        pytest.skip(f"{missing.tool} is missing: {missing.what}")


@pytest.fixture
def log_directory(tmp_path: Path) -> Path:
    """Return where a sandbox that had some topics for two seconds keeps its metadata log."""
    harness = Harness(tmp_path, ClusterShape(1, Emulation("4.3"), settings=SETTINGS, fast=True))
    for name in TOPICS:
        EosClient(harness).create_topic(name, 2)
        harness.advance(1000)
    harness.close()
    return tmp_path / "broker-1" / partition_directory_name(*METADATA_PARTITION)


def ask(shell: Runtime, file: Path, *questions: str) -> list[str]:
    """Return the responses to commands typed into the shell.

    A command on the command line may run before the tree is filled: MetadataShell waits for the loader's offset, which
    MetadataLoader raises before it calls the publisher. Therefore commands are repeated at the prompt.
    """
    result = run_tool(shell, SHELL, "--snapshot", str(file), typed="\n".join([*questions * 50, "exit"]))
    assert result.exit_code == 0, result
    answers = result.stdout.split(PROMPT)[1:-1]
    assert len(answers) == 50 * len(questions), result
    return answers[-len(questions) :]


def test_kafkas_shell_reads_snapshot_and_log(shell: Runtime, log_directory: Path) -> None:
    topics, partition = ask(
        shell, find_snapshots(log_directory, 0)[-1].path, "ls /image/topics/byName", "cat /image/topics/byName/orders/1"
    )
    assert topics.split() == TOPICS
    assert partition.startswith("PartitionRegistration(replicas=[1], ")
    assert "leaderRecoveryState=RECOVERED" in partition
    (topics,) = ask(shell, log_directory / f"{0:020}.log", "ls /image/topics/byName")
    assert topics.split() == TOPICS
