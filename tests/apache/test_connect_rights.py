"""An exactly-once source of Connect runs with the rules that ``check acl connect-source`` prints, not with one less."""

from __future__ import annotations

import re
import subprocess
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.apache.java_programs import compile_java, java_command
from tests.apache.test_authorization import guarded_broker
from tests.commands.conftest import eosctl
from tests.sandbox.security.least_rights import grant, prepare

SOURCE = Path(__file__).with_name("java") / "ConnectRights.java"
LONG_S = 600
PASSWORD = "word"
NEEDED = 13
ENOUGH = 20
"""Records that the user with all rules writes while those who were refused write none."""
# What the broker's authorizer writes of a request that it refuses.
DENIED = re.compile(
    r"Principal = User:(?P<user>\w+) is Denied operation = (?P<operation>\w+) .*?"
    r" on resource = (?P<type>\w+):LITERAL:(?P<name>\S+) for request = (?P<request>\w+)"
)


class Denial(NamedTuple):
    """What the authorizer refused."""

    operation: str
    resource_type: str
    name: str
    request: str


def rules_of(user: str) -> list[dict[str, str]]:
    arguments = ("--principal", f"User:{user}", "--group", user, "--connector", "source", "--write", "out")
    topics = [part for name in ("config", "offset", "status") for part in (f"--{name}-topic", f"{user}-{name}")]
    items: list[dict[str, str]] = eosctl("check", "acl", "connect-source", *arguments, *topics, "-o", "json").json[
        "items"
    ]
    return items


@pytest.fixture(scope="module")
def workers(kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Compile the program that runs the workers; return its command line."""
    classes = tmp_path_factory.mktemp("classes")
    compile_java(SOURCE, classes, f"{kafka_jars}/*")
    silent = "-Dorg.apache.logging.log4j.level=OFF"
    return java_command(f"{classes}:{kafka_jars}/*", "ConnectRights", silent, heap_mib=640)


@pytest.mark.long  # fourteen workers
def test_connect_needs_each_of_the_rules(workers: list[str], tmp_path: Path) -> None:
    """One worker's user has all rules, and each of the others lacks one of them."""
    whole, *lacking = users = [f"app{number:02}" for number in range(NEEDED + 1)]
    needed = {user: rules_of(user) for user in users}
    left_out = {user: needed[user].pop(number) for number, user in enumerate(lacking)}
    assert [len(rules) for rules in needed.values()] == [NEEDED] + [NEEDED - 1] * NEEDED
    untold = next(
        user for user, rule in left_out.items() if rule["name"].endswith("-status") and rule["operation"] == "Write"
    )
    log = tmp_path / "workers.log"
    with guarded_broker(tmp_path / "broker", dict.fromkeys(("admin", *users), PASSWORD)) as broker:
        admin = {
            "bootstrap.servers": broker.with_login,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": "admin",
            "sasl.password": PASSWORD,
        }
        prepare(admin)
        remember_an_earlier_start(admin, left_out)
        grant(broker.with_login, PASSWORD, [rule for rules in needed.values() for rule in rules])
        reader = Consumer({**admin, "group.id": "reader", "isolation.level": "read_committed"})
        reader.assign([TopicPartition("out", 0, 0)])
        wrote: Counter[str] = Counter()
        denials: dict[str, set[Denial]] = {}
        with log.open("wb") as output:
            running = subprocess.Popen([*workers, broker.with_login, *users], stdout=output, stderr=subprocess.STDOUT)
        try:
            deadline = time.monotonic() + LONG_S
            while not all(any(refused_for(left_out[user], one) for one in denials.get(user, ())) for user in lacking):
                assert running.poll() is None, log.read_text()[-4000:]
                assert time.monotonic() < deadline, (denials, wrote, log.read_text()[-4000:])
                wrote += keys(reader)
                denials = denied(tmp_path / "broker" / "node" / "logs" / "server.log")
            until = wrote[whole] + ENOUGH
            while wrote[whole] < until or not wrote[untold]:
                assert time.monotonic() < deadline, (wrote, log.read_text()[-4000:])
                wrote += keys(reader)
        finally:
            running.kill()
            running.wait()
            reader.close()
    assert set(wrote) == {whole, untold}
    # Not needed: Connect checks its topics' cleanup policy and continues without it.
    assert {operation for operation, *_ in denials.get(whole, ())} <= {"DESCRIBE_CONFIGS"}


def remember_an_earlier_start(admin: Mapping[str, str], left_out: Mapping[str, Mapping[str, str]]) -> None:
    """Write offsets and states, which a first start would not need to read."""
    client = AdminClient(dict(admin))
    producer = Producer(dict(admin))
    for user, rule in left_out.items():
        for topic, key in (
            (f"{user}-offset", f'["source",{{"user":"{user}"}}]'),
            (f"{user}-status", "status-task-x-0"),
        ):
            if (rule["name"], rule["operation"]) == (topic, "Read"):
                client.create_topics([NewTopic(topic, 1, 1, config={"cleanup.policy": "compact"})])[topic].result(
                    LONG_S
                )
                producer.produce(topic, key=key, value=b'{"next":1}')
    assert producer.flush(LONG_S) == 0


def keys(reader: Consumer) -> Counter[str]:
    """Return the writers of the readable records."""
    messages = reader.consume(100, 1)
    return Counter(message.key().decode() for message in messages if message.error() is None)


def denied(server_log: Path) -> dict[str, set[Denial]]:
    """Return by user what the authorizer refused."""
    found: dict[str, set[Denial]] = {}
    for match in DENIED.finditer(server_log.read_text()):
        found.setdefault(match["user"], set()).add(
            Denial(match["operation"], match["type"], match["name"], match["request"])
        )
    return found


def refused_for(rule: dict[str, str], denial: Denial) -> bool:
    """Whether a refusal is for want of a rule, in a request that the rule names."""
    prefixed = rule["pattern_type"] == "Prefixed"
    implied = denial.operation == "DESCRIBE" and rule["operation"] in ("Read", "Write")
    return (
        denial.resource_type == rule["resource_type"]
        and (denial.name.startswith(rule["name"]) if prefixed else denial.name == rule["name"])
        and (denial.operation == rule["operation"].upper() or implied)
        and denial.request in rule["requests"]
    )
