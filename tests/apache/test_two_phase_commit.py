"""Kafka's producer accepts transaction.two.phase.commit.enable without requesting it (EOS-CFG-145)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.lab.apache.nodes import ApacheNodes
from tests.apache.conftest import KafkaTool

TOOLS = "org.apache.kafka.tools."
NAME = "two-phase"
LOAD = f"--num-records 1 --record-size 1 --throughput -1 --topic {NAME} --transactional-id {NAME} --command-property"
BROKER = {"transaction.two.phase.commit.enable": "true", "unstable.api.versions.enable": "true"}
"""The broker settings for two-phase commit, so that only the producer can prevent it."""


def test_the_coordinator_keeps_the_ordinary_timeout(
    apache_running: Callable[..., AbstractContextManager[ApacheNodes]], kafka_tool: KafkaTool, tmp_path: Path
) -> None:
    with apache_running("4.3.1", tmp_path, settings=BROKER) as engine:
        server = ("--bootstrap-server", engine.bootstrap)
        admin = AdminClient({"bootstrap.servers": engine.bootstrap})
        admin.create_topics([NewTopic(NAME, 1)])[NAME].result(30)
        done = kafka_tool(
            TOOLS + "ProducerPerformance", *LOAD.split(), "transaction.two.phase.commit.enable=true", *server
        )
        assert "1 records sent" in done.stdout, done
        output = kafka_tool(TOOLS + "TransactionsCommand", *server, "describe", "--transactional-id", NAME)
    names, values = (line.split("\t") for line in output.stdout.splitlines())
    row = {name.strip(): value.strip() for name, value in zip(names, values, strict=True)}
    assert row["TransactionTimeoutMs"] == "60000"
