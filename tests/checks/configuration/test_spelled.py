"""Remedies name a key of the file, or one with the file's own beginning."""

from __future__ import annotations

import re
from typing import Final

import pytest

from eosctl.checks.configuration.spelled import spelled, spelling_of
from eosctl.checks.judge import judge
from eosctl.findings.linted import findings_of
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Component, Deployment, Place, Role, Value
from eosctl.settings.deployment.deployment_files import read_components
from tests.checks.configuration.test_rule_cases import CASES, RuleCase

PREFIX: Final = "shop.kafka."
NAMED: Final = re.compile(r"(?<![\w.-])[a-z][a-z0-9]*(?:\.[a-z0-9]+){1,}(?![\w-]|\.\w)")
ROLES: Final = (Role.PRODUCER, Role.CONSUMER)


def prefixed(text: str) -> str:
    return "".join(f"{PREFIX}{line}\n" if "=" in line else f"{line}\n" for line in text.splitlines())


def is_of_clients(case: RuleCase) -> bool:
    """Return whether a case is one file of a plain client, which a program may have under a beginning of its own."""
    if case.expect != "failed" or len(case.files) != 1 or any(case.releases):
        return False
    ((file, text),) = case.files.items()
    read = read_components(file, text) if file.endswith(".properties") else []
    return bool(read) and all(
        one.role in ROLES
        and one.inside is None
        and one.others == ()
        and {v.key for v in one.given.values()} == set(one.given)
        for one in read
    )


OF_CLIENTS: Final = [case for case in CASES if is_of_clients(case)]


def test_remedies_begin_as_the_keys_of_the_file_do() -> None:
    names = {name for role in ROLES for name in load_tables()[role.value].parameters}
    seen = 0
    for case in OF_CLIENTS:
        ((_, text),) = case.files.items()
        deployment = Deployment(tuple(read_components("app.properties", prefixed(text))), load_tables())
        for finding in findings_of(judge(deployment)):
            named = {match[0] for remedy in finding.remedy for match in NAMED.finditer(remedy)}
            seen += len(named)
            assert named & names == set(), (case, finding.remedy)
    assert seen > 20


@pytest.mark.parametrize(
    ("keys", "role", "inside", "expected"),
    [
        ({"group.id": "GROUP_ID"}, Role.CONSUMER, None, "ENABLE_AUTO_COMMIT"),
        ({"group.id": "KAFKA_PRODUCER_GROUP_ID"}, Role.CONSUMER, None, "enable.auto.commit"),
        ({"group.id": "app.kafka.groupId"}, Role.CONSUMER, None, "app.kafka.enableAutoCommit"),
        ({"group.id": "Kafka.GroupId"}, Role.CONSUMER, None, "Kafka.EnableAutoCommit"),
        ({"acks": "kafka.acks"}, Role.CONSUMER, None, "enable.auto.commit"),
        ({"enable.auto.commit": "x.auto"}, Role.CONSUMER, None, "x.auto"),
        (
            {"group.id": "spring.kafka.consumer.group-id"},
            Role.CONSUMER,
            Role.SPRING,
            "spring.kafka.consumer.properties.enable.auto.commit",
        ),
        ({"bootstrap.servers": "a.bootstrap.servers"}, Role.PRODUCER, None, "enable.auto.commit"),
    ],
)
def test_a_setting_gets_the_spelling_of_its_neighbors(
    keys: dict[str, str], role: Role, inside: Role | None, expected: str
) -> None:
    given = {name: Value(name, "1", key) for name, key in keys.items()}
    component = Component(role, "a", Place("a", 1), "a", given, inside=inside)
    assert spelled("Set enable.auto.commit=false.", component) == f"Set {expected}=false."


def test_a_key_of_the_file_is_left_as_it_is() -> None:
    given = {"commit.interval.ms": Value("commit.interval.ms", "1", "streams.commit.interval.ms")}
    component = Component(Role.STREAMS, "a", Place("a", 1), "a", given)
    text = "Set producer.transaction.timeout.ms=9, or shorten streams.commit.interval.ms, e.g. kafka.topics."
    assert spelled(text, component).startswith("Set streams.producer.transaction.timeout.ms=9, or shorten streams.c")


def test_no_spelling_follows_from_a_single_word() -> None:
    assert spelling_of({"acks": Value("acks", "1", "out.acks")}) is None
