"""confluent-kafka as the client of a run; what it does under faults is in tests/apache/test_verify_clients.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, KafkaException

from eosctl.lab.verify.drivers.librdkafka import NotDelivered, client_settings, failure_class
from eosctl.testing import SandboxThread
from eosctl.wire.error_codes import ErrorCode
from tests.commands.conftest import eosctl

pytestmark = pytest.mark.usefixtures("own_home")


def test_its_chain_is_clean_over_tls_with_client_properties() -> None:
    with SandboxThread(brokers=1, sasl=("SCRAM-SHA-512",), tls=True, users=("admin",), fast=False) as kafka:
        settings = str(kafka.client_properties("admin"))
        plan = ("--clients", "librdkafka", "--workload", "chain", "--hops", "1", "--partitions", "2", "--seed", "3")
        much = ("--duration", "3s", "--rate", "6", "-o", "json")
        done = eosctl("verify", "run", "--command-config", settings, *plan, *much)
    assert done.code == 0, done.out + done.err
    (item,) = done.json["items"]
    assert (item["verdict"], item["clients"]) == ("clean", "librdkafka")
    events = [json.loads(line) for line in _history(done.err).read_text().splitlines()]
    committed = {event["transaction"] for event in events if event.get("outcome") == "committed"}
    assert [event for event in events if event["event"] == "OffsetsSent" and event["transaction"] in committed]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (KafkaException(KafkaError(KafkaError._FENCED, fatal=True)), "fenced"),
        (KafkaException(KafkaError(KafkaError.INVALID_PRODUCER_EPOCH)), "fenced"),
        (KafkaException(KafkaError(ErrorCode.TRANSACTION_ABORTABLE, txn_requires_abort=True)), "abortable"),
        (KafkaException(KafkaError(KafkaError._TIMED_OUT, retriable=True)), "again"),
        (KafkaException(KafkaError(KafkaError._STATE)), "fatal"),
        (NotDelivered(KafkaError(KafkaError._MSG_TIMED_OUT)), "abortable"),
        (NotDelivered(KafkaError(KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER, fatal=True)), "fatal"),
        (NotDelivered(KafkaError(KafkaError._FENCED, fatal=True)), "fenced"),
        (AttributeError("never opened"), "fatal"),
    ],
)
def test_errors_say_what_is_left_to_do(error: Exception, expected: str) -> None:
    assert failure_class(error) == expected


def test_settings_hold_what_was_given_and_nothing_empty() -> None:
    plain = {"bootstrap": "a:1,b:2", "protocol": "PLAINTEXT"}
    assert client_settings(plain) == {"bootstrap.servers": "a:1,b:2", "security.protocol": "PLAINTEXT"}
    tls = {"ca": "CA", "certificate": "", "key": "", "verify_hostname": False}
    login = {"mechanism": "PLAIN", "username": "u", "password": "p", "token": ""}
    assert client_settings({**plain, "protocol": "SASL_SSL", **tls, **login}) == {
        "bootstrap.servers": "a:1,b:2",
        "security.protocol": "SASL_SSL",
        "ssl.ca.pem": "CA",
        "ssl.endpoint.identification.algorithm": "none",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "u",
        "sasl.password": "p",
    }
    token = client_settings({**plain, "mechanism": "OAUTHBEARER", "username": "", "password": "", "token": "t"})
    assert (token["sasl.mechanism"], token["oauth_cb"](None)[0]) == ("OAUTHBEARER", "t")


def _history(words: str) -> Path:
    return Path(words.split("run: ")[1].split()[0]) / "history.jsonl"
