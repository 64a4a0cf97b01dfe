"""Transactions of two-phase commits (KIP-939) on real brokers: who gets one, and what ends it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.client import connect
from eosctl.client.destinations import transaction_coordinator
from eosctl.client.transactions import TV2, ProducerIdentity, produce
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.model.client_config import ClientConfig
from eosctl.model.transaction import NO_TIMEOUT_MS, TopicPartition
from eosctl.settings.clusters.endpoints import parse_endpoints
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.init_producer_id import InitProducerIdRequest
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.apache.conftest import FULL_DISK, KafkaTool
from tests.commands.conftest import eosctl

pytestmark = pytest.mark.usefixtures("own_home")

TOOLS = "org.apache.kafka.tools."
NAME = "two-phase"
LOAD = f"--num-records 1 --record-size 1 --throughput -1 --topic {NAME} --transactional-id {NAME} --command-property"
BROKER = {"transaction.two.phase.commit.enable": "true", "unstable.api.versions.enable": "true"}
"""The broker settings for two-phase commit, so that only the producer can prevent it."""


async def prepare(bootstrap: str) -> None:
    """Leave a transaction of a two-phase commit open, as an application does that waits for the other system."""
    async with connect(ClientConfig(parse_endpoints(bootstrap, "test"))) as client:
        request = InitProducerIdRequest(NAME, NO_TIMEOUT_MS, enable2_pc=True)
        answer = await client.request(transaction_coordinator(NAME), ApiKey.INIT_PRODUCER_ID, request)
        assert answer.error_code == 0
        identity = ProducerIdentity(NAME, answer.producer_id, answer.producer_epoch)
        batch = encode_batch(
            [Record(0, time.time_ns() // 1_000_000, None, b"prepared")],
            producer_id=identity.producer_id,
            producer_epoch=identity.producer_epoch,
            base_sequence=0,
            transactional=True,
        )
        await produce(client, TopicPartition(NAME, 0), batch, transactional_id=NAME, bounds=TV2.produce)


def test_a_prepared_transaction_does_not_hang(
    apache_running: Callable[..., AbstractContextManager[ApacheNodes]],
    kafka_tool: KafkaTool,
    tmp_path: Path,
) -> None:
    with apache_running("4.4.0", tmp_path / "kafka", settings=BROKER) as engine:
        server = ("-b", engine.bootstrap)
        admin = AdminClient({"bootstrap.servers": engine.bootstrap})
        admin.create_topics([NewTopic(NAME, 1)])[NAME].result(30)
        asyncio.run(prepare(engine.bootstrap))
        (open_one,) = eosctl("txn", "hanging", "--all", *server, "-o", "json").json["items"]
        found = eosctl("doctor", *server, "-o", "json", "--exit-zero").json["items"]
        aborted = eosctl("txn", "abort", "--topic", NAME, "--partition", "0", *server, "--yes")
        fenced = eosctl("txn", "fence", NAME, *server, "--yes")
        lossy = eosctl("txn", "fence", NAME, *server, "--yes", "--accept-data-loss", NAME)
        watched = eosctl("top", "--count", "1", *server)
        described = kafka_tool(TOOLS + "TransactionsCommand", "--bootstrap-server", engine.bootstrap, "list")
        forced = lossy.err.split("kafka-transactions.sh ")[1].split(",")[0].split()
        ended = kafka_tool(
            TOOLS + "TransactionsCommand", "--bootstrap-server", engine.bootstrap, *forced, version="4.4.0"
        )
        after = eosctl("txn", "hanging", "--all", *server, "-o", "json").json["items"]
    assert (open_one["status"], open_one["cause"], open_one["can_abort"]) == ("open", "prepared-two-phase", False)
    assert [one["check_id"] for one in found if one["severity"] != "info" and one["check_id"] != FULL_DISK] == []
    assert (aborted.code, fenced.code, lossy.code) == (1, 1, 1)
    assert "two-phase commit" in aborted.err
    assert "this half permanently" in fenced.err
    assert "no timeout" in watched.out
    assert "Ongoing" in described.stdout
    assert (ended.exit_code, after) == (0, [])


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
