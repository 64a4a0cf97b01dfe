"""Kafka's own dump tool reads every file of a sandbox: records, indexes, snapshots, internal topics, metadata log."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from tests.apache.conftest import KafkaTool
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness

pytestmark = pytest.mark.apache

DUMP = {"3.9": ("3.9.2", "kafka.tools.DumpLogSegments"), "4.3": ("4.3.1", "org.apache.kafka.tools.DumpLogSegments")}
DECODERS = {
    "__cluster_metadata": "--cluster-metadata-decoder",
    "__transaction_state": "--transaction-log-decoder",
    "__consumer_offsets": "--offsets-decoder",
}
SUFFIXES = (".log", ".index", ".timeindex", ".txnindex", ".snapshot", ".checkpoint")
COMPLAINTS = re.compile(
    r"mismatch|invalid bytes|not found|out of order|exception|corrupt|isvalid: false|skipping", re.IGNORECASE
)
SETTINGS = {
    "transaction.state.log.num.partitions": "1",
    "offsets.topic.num.partitions": "1",
    "metadata.log.max.record.bytes.between.snapshots": "1000",
}


def files_of_a_cluster(folder: Path, release: str) -> dict[str, list[Path]]:
    """Leave what a working cluster leaves; its files by decoder option."""
    harness = Harness(folder, ClusterShape(3, Emulation(release), None, SETTINGS, fast=True))
    client = EosClient(harness, implicit=release == "4.3")
    client.create_topic("orders", 2, 3)
    producer = client.init("app")
    for number in range(30):
        client.produce(producer, TopicPartition("orders", number % 2), ["a", "b"])
        client.end(producer, commit=number % 3 > 0)
    client.produce(client.init("open"), TopicPartition("orders", 0), ["open"])
    harness.kill(2)
    harness.advance(2000)
    harness.restart(2)
    harness.advance(1000)
    harness.close()
    found: dict[str, list[Path]] = {}
    for path in folder.glob("*/*/*"):
        if path.suffix in SUFFIXES and path.stat().st_size:
            decoder = next((option for name, option in DECODERS.items() if path.parent.name.startswith(name)), "")
            found.setdefault(decoder if path.suffix in (".log", ".checkpoint") else "", []).append(path)
    return found


@pytest.mark.parametrize("release", ["3.9", "4.3"])
def test_kafka_reads_every_file(tmp_path: Path, kafka_tool: KafkaTool, release: str) -> None:
    version, main_class = DUMP[release]
    found = files_of_a_cluster(tmp_path, release)
    assert {"", "--cluster-metadata-decoder", "--transaction-log-decoder"} <= set(found)
    assert any(path.suffix == ".checkpoint" for path in found["--cluster-metadata-decoder"])
    for decoder, paths in found.items():
        arguments = ["--files", ",".join(map(str, paths)), "--deep-iteration", *([decoder] if decoder else [])]
        result = kafka_tool(main_class, *arguments, version=version)
        text = f"{result.stdout}\n{result.stderr}"
        assert result.exit_code == 0, text[-2000:]
        complaints = [line for line in text.splitlines() if COMPLAINTS.search(line) and "SLF4J" not in line]
        assert complaints == []
        assert text.count("Dumping ") == len(paths)
