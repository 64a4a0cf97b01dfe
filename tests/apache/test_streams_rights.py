"""Kafka Streams with the rules that ``check acl streams`` prints runs exactly once; with any one less it does not."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.apache.java_programs import compile_java, java_command
from tests.apache.test_authorization import guarded_broker
from tests.commands.conftest import eosctl
from tests.sandbox.security.least_rights import grant, prepare

SOURCE = Path(__file__).with_name("java") / "StreamsRights.java"
LONG_S = 600
PASSWORD = "word"
NEEDED = 8


def rules_of(user: str) -> list[dict[str, str]]:
    arguments = ("--principal", f"User:{user}", "--application-id", user, "--read", "in", "--write", "out")
    items: list[dict[str, str]] = eosctl("check", "acl", "streams", *arguments, "-o", "json").json["items"]
    return items


@pytest.fixture(scope="module")
def applications(streams_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Compile the applications; return the command line that starts them."""
    classes = tmp_path_factory.mktemp("classes")
    compile_java(SOURCE, classes, f"{streams_jars}/*")
    return java_command(f"{classes}:{streams_jars}/*", "StreamsRights", heap_mib=320)


def test_streams_needs_each_of_the_rules(applications: list[str], tmp_path: Path) -> None:
    """One application has all rules, and each of the others lacks one of them."""
    whole, *lacking = users = [f"app{number}" for number in range(NEEDED + 1)]
    needed = {user: rules_of(user) for user in users}
    left_out = {user: needed[user].pop(number) for number, user in enumerate(lacking)}
    assert [len(rules) for rules in needed.values()] == [NEEDED] + [NEEDED - 1] * NEEDED
    without_delete = next(user for user in lacking if left_out[user]["operation"] == "Delete")
    log = tmp_path / "applications.log"
    with guarded_broker(tmp_path / "broker", dict.fromkeys(("admin", *users), PASSWORD)) as broker:
        admin = {
            "bootstrap.servers": broker.with_login,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": "admin",
            "sasl.password": PASSWORD,
        }
        prepare(admin)
        grant(broker.with_login, PASSWORD, [rule for rules in needed.values() for rule in rules])
        reader = Consumer({**admin, "group.id": "reader", "isolation.level": "read_committed"})
        reader.assign([TopicPartition("out", 0, 0)])
        wrote: set[str] = set()
        failed: dict[str, str] = {}
        emptied: set[str] = set()
        with log.open("wb") as output:
            running = subprocess.Popen(
                [*applications, broker.with_login, str(tmp_path / "state"), *users],
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            deadline = time.monotonic() + LONG_S
            while len(failed) < NEEDED - 1 or wrote < {whole, without_delete} or whole not in emptied:
                assert running.poll() is None, log.read_text()[-4000:]
                assert time.monotonic() < deadline, (failed, wrote, emptied, log.read_text()[-4000:])
                message = reader.poll(0.2)
                if message is not None and message.error() is None:
                    wrote.add(message.key().decode())
                lines = [line.split() for line in log.read_text().splitlines() if line.startswith("failed ")]
                failed = {line[1]: line[-1] for line in lines}
                emptied = {user for user in wrote if _first_offset(reader, user) > 0}
        finally:
            running.kill()
            running.wait()
            reader.close()
    assert wrote == {whole, without_delete}
    assert emptied == {whole}
    errors = {
        "TopicAuthorizationException": "TOPIC_AUTHORIZATION_FAILED",
        "GroupAuthorizationException": "GROUP_AUTHORIZATION_FAILED",
        "TransactionalIdAuthorizationException": "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
    }
    result = {user: errors.get(error, error) for user, error in failed.items()}
    assert result == {user: rule["without_it"] for user, rule in left_out.items() if user != without_delete}


def _first_offset(reader: Consumer, user: str) -> int:
    """Return the start of the application's repartition topic: above 0 once it was truncated."""
    (topic,) = (
        name
        for name in reader.list_topics(timeout=LONG_S).topics
        if name.startswith(user) and name.endswith("-repartition")
    )
    low, _ = reader.get_watermark_offsets(TopicPartition(topic, 0), timeout=LONG_S, cached=False)
    return int(low)
