"""A text about another program gets no runbook for a word that both have."""

from __future__ import annotations

import pytest

from eosctl.services.find_runbooks import find_runbooks
from tests.commands.conftest import eosctl

OTHERS = [
    "After the ingress upgrade nginx answers 502 Bad Gateway, upstream prematurely closed connection",
    (
        "org.postgresql.util.PSQLException: ERROR: could not serialize access due to read/write dependencies\n"
        "ERROR: current transaction is aborted, commands ignored until end of transaction block"
    ),
    "ERROR 1213 (40001): Deadlock found when trying to get lock; try restarting transaction",
    "the isolation level is SERIALIZABLE and two sessions update one row",
    "java.lang.OutOfMemoryError: Java heap space\n\tat com.acme.report.Renderer.page(Renderer.java:40)",
    "RabbitMQ delivers the same message to our consumer twice",
    "the MQTT broker drops the connection of the producer",
    "psycopg2.errors.SerializationFailure: could not serialize access due to concurrent update",
]
KAFKA = [
    "the connector to PostgreSQL writes duplicates",
    "java.lang.OutOfMemoryError: Java heap space\n\tat kafka.server.KafkaApis.handle(KafkaApis.scala:188)",
    "the consumer writes to MySQL and rows come twice after a rebalance",
    "RabbitMQ is bridged to Kafka and messages come twice",
    "some payments never arrived",
]


@pytest.mark.parametrize("text", OTHERS)
def test_another_program_gets_no_runbook(text: str) -> None:
    found = find_runbooks(text)
    assert (found.matches, found.refused, bool(found.other_subject)) == ((), (), True)


@pytest.mark.parametrize("text", KAFKA)
def test_a_sign_of_kafka_next_to_others_counts(text: str) -> None:
    found = find_runbooks(text)
    assert found.matches
    assert not found.other_subject


def test_the_error_names_the_other_program() -> None:
    for command in ("diagnose", "explain"):
        done = eosctl(command, OTHERS[0])
        assert (done.code, done.out) == (2, "")
    assert "about another program: 'ingress'" in eosctl("diagnose", OTHERS[0]).err
