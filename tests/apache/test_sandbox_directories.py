"""Kafka's own tools see a sandbox's log directories, move a replica between them, and read the files that it became."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.testing import SandboxThread
from tests.apache.conftest import KafkaTool

pytestmark = pytest.mark.apache

LOG_DIRS = "org.apache.kafka.tools.LogDirsCommand"
REASSIGN = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
DUMP = "org.apache.kafka.tools.DumpLogSegments"


def homes(kafka_tool: KafkaTool, bootstrap: str) -> dict[str, str]:
    """Return the directory of each partition according to kafka-log-dirs."""
    run = kafka_tool(LOG_DIRS, "--bootstrap-server", bootstrap, "--describe", "--topic-list", "moved")
    assert run.exit_code == 0, run
    described: dict[str, Any] = json.loads(next(line for line in run.stdout.splitlines() if line.startswith("{")))
    (broker,) = described["brokers"]
    assert [directory["error"] for directory in broker["logDirs"]] == [None, None]
    return {
        entry["partition"]: directory["logDir"] for directory in broker["logDirs"] for entry in directory["partitions"]
    }


def test_kafkas_tools_move_a_replica_and_read_it(tmp_path: Path, kafka_tool: KafkaTool) -> None:
    with SandboxThread(log_dirs=2, data_dir=tmp_path / "data") as sandbox:
        admin = AdminClient({"bootstrap.servers": sandbox.bootstrap})
        admin.create_topics([NewTopic("moved", 2, 1, config={"segment.bytes": "1048576"})])["moved"].result(20)
        producer = Producer({"bootstrap.servers": sandbox.bootstrap, "transactional.id": "mover", "linger.ms": 0})
        producer.init_transactions(20)
        for number in range(30):
            producer.begin_transaction()
            producer.produce("moved", b"x" * 100_000, partition=0)
            if number % 3:
                producer.commit_transaction(20)
            else:
                assert producer.flush(20) == 0
                producer.abort_transaction(20)
        before = homes(kafka_tool, sandbox.bootstrap)
        assert before["moved-0"] != before["moved-1"]
        plan = {"topic": "moved", "partition": 0, "replicas": [1], "log_dirs": [before["moved-1"]]}
        file = tmp_path / "plan.json"
        file.write_text(json.dumps({"version": 1, "partitions": [plan]}))
        for mode in ("--execute", "--verify"):
            run = kafka_tool(
                REASSIGN, "--bootstrap-server", sandbox.bootstrap, "--reassignment-json-file", str(file), mode
            )
            assert run.exit_code == 0, run
        assert "completed successfully" in run.stdout
        after = homes(kafka_tool, sandbox.bootstrap)
        assert after["moved-0"] == after["moved-1"] == before["moved-1"]
    files = [path for path in (Path(after["moved-0"]) / "moved-0").iterdir() if path.suffix not in ("", ".metadata")]
    assert {path.suffix for path in files} == {".log", ".index", ".timeindex", ".txnindex", ".snapshot"}
    run = kafka_tool(DUMP, "--files", ",".join(str(path) for path in files if path.stat().st_size), "--deep-iteration")
    assert run.exit_code == 0, run
    for complaint in ("mismatch", "invalid", "exception", "isvalid: false"):
        assert complaint not in (run.stdout + run.stderr).lower()
