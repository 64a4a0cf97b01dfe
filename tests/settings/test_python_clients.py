"""kafka-python and aiokafka: their files are detected, and the verdicts are those of the clients themselves."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
import yaml

from eosctl.checks.judge import judge
from eosctl.findings.linted import findings_of
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Client, Deployment, Role
from eosctl.settings.deployment.deployment_files import read_components
from eosctl.testing import SandboxThread

# A process of its own: what a refused client has opened stays open.
MAKE_ALL = """
import asyncio, json, sys
import aiokafka, kafka
CLASSES = {
    ("kafka-python", "producer"): kafka.KafkaProducer, ("kafka-python", "consumer"): kafka.KafkaConsumer,
    ("aiokafka", "producer"): aiokafka.AIOKafkaProducer, ("aiokafka", "consumer"): aiokafka.AIOKafkaConsumer,
}
async def is_refused(client, role, settings):
    try:
        made = CLASSES[client, role](bootstrap_servers=sys.argv[1], **settings)
    except (ValueError, TypeError, AssertionError, kafka.errors.KafkaConfigurationError):
        return True
    await (made.stop() if client == "aiokafka" else asyncio.to_thread(made.close))
    return False
print(json.dumps([asyncio.run(is_refused(*start)) for start in json.load(sys.stdin)]))
"""
FILES = {Client.KAFKA_PYTHON: "kafka_python.yaml", Client.AIOKAFKA: "aiokafka.yaml"}
STARTS: list[tuple[Client, Role, dict[str, Any]]] = [
    *((client, Role.PRODUCER, settings) for client in FILES for settings in (
        {"transactional_id": "t"},
        {"transactional_id": "t", "acks": 1},
        {"transactional_id": "t", "acks": "all"},
        {"transactional_id": "t", "enable_idempotence": False},
        {"enable_idempotence": True, "acks": 0},
        {"enable_idempotence": True, "acks": "most"},
        {"acks": 1, "linger_ms": 5},
        {"transactional_id": "t", "delivery_timeout_ms": 30000},
        {"transactional_id": "t", "max_in_flight_requests_per_connection": 6},
        {"enable_idempotence": True, "max_in_flight_requests_per_connection": 5},
        {"enable_idempotence": True, "metadata_recovery_strategy": "none"},
    )),
    *((client, Role.CONSUMER, settings) for client in FILES for settings in (
        {"group_id": "g", "isolation_level": "read_committed"},
        {"group_id": "g", "group_protocol": "consumer"},
        {"group_id": "g", "session_timeout_ms": 6000, "heartbeat_interval_ms": 2000},
        {"group_id": "g", "isolation_level": "read_committed", "group_instance_id": "one"},
    )),
    (Client.KAFKA_PYTHON, Role.CONSUMER, {"group_id": "g", "session_timeout_ms": 6000, "heartbeat_interval_ms": 6000}),
    (Client.KAFKA_PYTHON, Role.PRODUCER, {"transactional_id": "t", "retries": 0}),
]  # fmt: skip


@pytest.fixture(scope="module")
def refused() -> list[bool]:
    """Return of each start whether the client itself refuses it."""
    with SandboxThread(brokers=1) as sandbox:
        command = [sys.executable, "-W", "ignore", "-c", MAKE_ALL, sandbox.bootstrap]
        done = subprocess.run(command, input=json.dumps(STARTS), capture_output=True, text=True, check=True)
    told: list[bool] = json.loads(done.stdout)
    return told


def impacts(client: Client, role: Role, settings: dict[str, Any]) -> list[str]:
    text = yaml.safe_dump({"kafka": {role.value: {"bootstrap_servers": "localhost:9092", **settings}}})
    parts = tuple(read_components(FILES[client], text))
    assert [(part.client, part.role) for part in parts] == [(client, role)]
    return [finding.impact for finding in findings_of(judge(Deployment(parts, load_tables())))]


def test_what_is_said_to_start_starts_and_nothing_else(refused: list[bool]) -> None:
    said = [any("not start" in i or "not created" in i for i in impacts(*start)) for start in STARTS]
    differing = [(start, one) for start, one, other in zip(STARTS, said, refused, strict=True) if one is not other]
    assert differing == []
    assert {True, False} == set(refused)


@pytest.mark.parametrize(
    ("file", "text", "client"),
    [
        ("app.yaml", "kafka: {producer: {transactional_id: t, sasl_plain_username: u}}", Client.KAFKA_PYTHON),
        ("app.yaml", "kafka: {producer: {transactional_id: t, max_batch_size: 1}}", Client.AIOKAFKA),
        ("python-service.yaml", "kafka: {producer: {transactional_id: t}}", Client.KAFKA_PYTHON),
        ("python-service.yaml", "kafka: {producer: {transactional.id: t}}", Client.LIBRDKAFKA),
        ("app.yaml", "aiokafka: {producer: {transactional_id: t}}", Client.AIOKAFKA),
        ("app.yaml", "kafka: {producer: {transactional_id: t, ssl_context: null}}", Client.JAVA),
        ("app.yaml", "kafka: {producer: {transactionalId: t, enableIdempotence: true}}", Client.JAVA),
        ("appsettings.json", '{"Kafka": {"Producer": {"TransactionalId": "t"}}}', Client.LIBRDKAFKA),
    ],
)
def test_a_client_is_detected_by_names_and_words(file: str, text: str, client: Client) -> None:
    assert [part.client for part in read_components(file, text)] == [client]


def test_defaults_are_those_of_the_client() -> None:
    text = "kafka: {producer: {transactional_id: t}, consumer: {group_id: g}}"
    producer, consumer = read_components("aiokafka.yaml", text)
    assert (producer.word("enable.idempotence"), producer.word("acks")) == ("false", "1")
    assert (consumer.word("session.timeout.ms"), consumer.word("isolation.level")) == ("10000", "read_uncommitted")
    producer, consumer = read_components("kafka_python.yaml", text)
    assert (producer.word("enable.idempotence"), producer.word("acks")) == ("true", "-1")
    assert (consumer.word("session.timeout.ms"), consumer.release) == ("45000", (3, 0))


def test_kafka_python_had_no_transactions_before_2_2() -> None:
    table = load_tables()["kafka-python"]
    for name in ("transactional.id", "isolation.level", "enable.idempotence"):
        assert table.parameters[name].at((2, 1)) is None
        assert table.parameters[name].at((2, 2)) is not None
