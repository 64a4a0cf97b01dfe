"""Findings and repairs have the words that a file's library has for Kafka's values."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.services.change_configuration import FixRequest, fix_configuration
from eosctl.services.lint_configuration import LintRequest, lint_configuration

SARAMA = "sarama:\n  producer:\n    idempotent: true\n    required_acks: %s\n"
KAFKAJS = '{"kafkajs": {\n"producer": {"idempotent": true,\n"acks": %s},\n"consumer": {"groupId": "g"}}}\n'
NET = '{"Kafka": {"TransactionalId": "a-1",\n"Acks": "%s"}}\n'
TELEGRAF = '[[outputs.kafka]]\nbrokers = ["k:1"]\nidempotent_writes = true\nrequired_acks = %s\n'
CONNECT = "output:\n  kafka:\n    addresses: [k:1]\n    idempotent_write: true\n    ack_replicas: %s\n"
LEVEL = (
    '{"Kafka": {"P": {"TransactionalId": "a-1"},\n'
    '"C": {"GroupId": "g", "EnableAutoCommit": false, "IsolationLevel": "ReadUncommitted"}}}\n'
)
FRANZ = "kgo:\n  transactional_id: a-1\n  required_acks: %s\n"


@pytest.mark.parametrize(
    ("file", "text", "before", "after"),
    [
        ("app.yaml", SARAMA, "WaitForLocal", "WaitForAll"),
        ("app.yaml", SARAMA, "1", "-1"),
        ("app.yaml", SARAMA, "wait_for_local", "wait_for_all"),
        ("app.yaml", FRANZ, "leader-ack", "all-isr-acks"),
        ("app.yaml", "sarama:\n  producer: {idempotent: true}\n  net:\n    max_open_requests: %s\n", "5", "1"),
        ("app.json", KAFKAJS, "1", "-1"),
        ("appsettings.json", NET, "Leader", "All"),
        ("telegraf.conf", TELEGRAF, "1", "-1"),
        ("app.yaml", FRANZ, "LeaderAck", "AllISRAcks"),
        ("producer.properties", "transactional.id=a\nacks=%s\n", "1", "all"),
    ],
)
def test_a_repair_is_in_the_words_of_the_library(file: str, text: str, before: str, after: str, tmp_path: Path) -> None:
    path = tmp_path / file
    path.write_text(text % before)
    assert fix_configuration(FixRequest((path,))).after[str(path)] == text % after


@pytest.mark.parametrize(
    ("file", "text", "what", "remedy"),
    [
        ("pipeline.yaml", CONNECT % "false", "ack_replicas=false contradicts", "Set ack_replicas=true."),
        (
            "app.yaml",
            "kgo:\n  transactional_id: a-1\n  disable_idempotent_write: true\n",
            "disable_idempotent_write is true",
            "Remove disable_idempotent_write, or set it to false.",
        ),
        (
            "appsettings.json",
            LEVEL,
            "IsolationLevel is ReadUncommitted",
            "Set IsolationLevel=ReadCommitted for this consumer.",
        ),
    ],
)
def test_a_finding_is_in_the_words_of_the_file(file: str, text: str, what: str, remedy: str, tmp_path: Path) -> None:
    path = tmp_path / file
    path.write_text(text)
    found = lint_configuration(LintRequest((path,))).found
    assert (what, (remedy,)) in [(one.message[: len(what)], one.remedy) for one in found]
