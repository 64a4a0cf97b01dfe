"""Kafka Streams settings among those of other programs, under an application's own prefix, and in the environment."""

from __future__ import annotations

import pytest

from eosctl.model.deployment import Role
from eosctl.settings.deployment.deployment_files import read_components
from eosctl.settings.names.recognition import streams_prefixes
from tests.settings.test_deployment_files import findings, only

SETTINGS = "processing.guarantee=exactly_once_v2\ncommit.interval.ms=120000\nproducer.transaction.timeout.ms=60000\n"
OTHERS = {
    "connector": ("connector.class=x.FileStreamSourceConnector\n", {"source-connector"}),
    "sink": ("connector.class=x.JdbcThing\ntopics=a\n", {"sink-connector"}),
    "worker": ("plugin.path=/x\nconfig.storage.topic=c\n", {"connect-worker"}),
    "broker": ("broker.id=1\nlog.dirs=/x\n", {"broker"}),
    "mirror": ("clusters=a,b\na->b.enabled=true\n", {"mirror-maker"}),
    "all": ("connector.class=x.Source\nplugin.path=/x\nbroker.id=1\nlog.dirs=/x\n", {"source-connector", "broker"}),
}


@pytest.mark.parametrize(("text", "roles"), OTHERS.values(), ids=OTHERS)
def test_a_mixture_is_judged_as_each_of_its_programs(text: str, roles: set[str]) -> None:
    for mixed in (text + SETTINGS, SETTINGS + text):
        found = {component.role.value: component for component in read_components("x.properties", mixed)}
        assert roles | {"streams"} <= found.keys()
        assert found["streams"].recognized_by == "processing.guarantee"
        assert any(one.startswith("EOS-CFG-001 ") for one in findings(("x.properties", mixed)))


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("connector.class=x.MarketoSource\napplication.id=7\n", {"source-connector"}),
        ("application.id=a\nprocessing.guarantee=exactly_once_v2\nlog.dir=/var/log/a\n", {"streams"}),
        ("shop.application.id=a\nshop.acks=all\n", set()),
    ],
)
def test_a_key_that_others_use_too_makes_no_second_program(text: str, roles: set[str]) -> None:
    outer = {one.role.value for one in read_components("x.properties", text) if one.inside is None}
    assert outer == roles


@pytest.mark.parametrize("prefix", ["my.app.kafka.streams.", "orders-service.", "a.b.streams.config."])
def test_settings_under_an_application_prefix_are_streams(prefix: str) -> None:
    lines = ("application.id=a\n" + SETTINGS).splitlines()
    text = "server.port=80\n" + "".join(f"{prefix}{line}\n" for line in lines)
    found = only("x.properties", text, Role.STREAMS)
    assert found.recognized_by == f"{prefix}application.id"
    assert findings(("x.properties", text)) == ["EOS-CFG-001 x.properties:4"]


def test_two_prefixes_are_two_applications() -> None:
    text = "".join(
        f"{prefix}.streams.{line}\n"
        for prefix in ("a", "b")
        for line in ("application.id=" + prefix, *SETTINGS.split())
    )
    applications = [one for one in read_components("x.properties", text) if one.role is Role.STREAMS]
    assert [one.value("application.id").text for one in applications] == ["a", "b"]
    assert [one[:11] for one in findings(("x.properties", text))] == ["EOS-CFG-001", "EOS-CFG-001"]
    assert streams_prefixes(["commit.interval.ms", "x.commit.interval.ms"]) == ()


VARIABLES = {
    "mixed": ("KAFKA_STREAMS_", "STREAMS_", "STREAMS_", "STREAMS_"),
    "long": ("KAFKA_STREAMS_", "KAFKA_STREAMS_", "KAFKA_STREAMS_", "KAFKA_STREAMS_"),
    "short": ("STREAMS_", "STREAMS_", "STREAMS_", "STREAMS_"),
    "own": ("SHOP_STREAMS_", "SHOP_STREAMS_", "STREAMS_", "KAFKA_STREAMS_"),
    "kafka": ("KAFKA_", "KAFKA_STREAMS_", "KAFKA_", "STREAMS_"),
}


@pytest.mark.parametrize("prefixes", VARIABLES.values(), ids=VARIABLES)
def test_streams_variables_are_one_application_for_any_prefix(prefixes: tuple[str, ...]) -> None:
    lines = ("APPLICATION_ID=a", "PROCESSING_GUARANTEE=exactly_once_v2", "COMMIT_INTERVAL_MS=120000")
    lines += ("PRODUCER_TRANSACTION_TIMEOUT_MS=60000",)
    text = "".join(prefix + line + "\n" for prefix, line in zip(prefixes, lines, strict=True))
    found = only("app.env", f"PATH=/bin\nSTREAMS_COUNT=3\nKAFKA_BOOTSTRAP_SERVERS=b:9092\n{text}", Role.STREAMS)
    assert (found.value("application.id").text, found.value("commit.interval.ms").number) == ("a", 120_000)
    assert findings(("app.env", text)) == ["EOS-CFG-001 app.env:3"]


def test_a_broker_keeps_its_variables_next_to_an_application() -> None:
    text = (
        "KAFKA_BROKER_ID=1\nKAFKA_LOG_DIRS=/x\nSTREAMS_APPLICATION_ID=a\nSTREAMS_PROCESSING_GUARANTEE=exactly_once_v2\n"
    )
    roles = {one.role for one in read_components("app.env", text) if one.inside is None}
    assert roles == {Role.BROKER, Role.STREAMS}


EOS = {"application.id": "a", "processing.guarantee": "exactly_once_v2", "commit.interval.ms": "120000"}
TIMEOUT = {"main.consumer.group.instance.id": "x", "producer.transaction.timeout.ms": "60000"}
SPELLINGS = {
    "dots": lambda name: name,
    "snake": lambda name: name.replace(".", "_"),
    "camel": lambda name: "".join(word.title() if at else word for at, word in enumerate(name.split("."))),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_mapping_is_streams_in_every_spelling(spelling: str) -> None:
    lines = [f"    {SPELLINGS[spelling](name)}: {value}\n" for name, value in EOS.items()]
    text = f"kafka:\n  streams:\n{''.join(lines)}"
    assert findings(("application.yaml", text)) == ["EOS-CFG-001 application.yaml:5"]


def test_a_guarantee_of_quix_alone_is_not_that_of_streams() -> None:
    assert read_components("app.yaml", "quix:\n  kafka:\n    processing_guarantee: exactly-once\n") == []


@pytest.mark.parametrize("guarantee", ["exactly_once", "at_least_once"])
def test_a_guarantee_of_streams_is_not_that_of_a_flink_sink(guarantee: str) -> None:
    flat = f"spring.kafka.streams.application-id=a\nspring.kafka.streams.properties.processing.guarantee={guarantee}\n"
    nested = f"kafka:\n  streams:\n    application:\n      id: a\n    processing:\n      guarantee: {guarantee}\n"
    for file, text in (("application.properties", flat), ("application.yaml", nested)):
        assert only(file, text, Role.STREAMS).word("processing.guarantee") == guarantee


def test_clients_and_topics_of_streams_keep_their_beginnings() -> None:
    given = {**EOS, **TIMEOUT, "topic.min.insync.replicas": "2"}
    text = "kafka:\n  streams:\n" + "".join(f"    {name}: {value}\n" for name, value in given.items())
    variables = "".join(f"KAFKA_STREAMS_{name.upper().replace('.', '_')}={value}\n" for name, value in given.items())
    for file, one in (("application.yaml", text), ("app.env", variables)):
        streams = only(file, one, Role.STREAMS)
        assert streams.given.keys() == given.keys()
        assert only(file, one, Role.PRODUCER).number("transaction.timeout.ms") == 60_000
        assert only(file, one, Role.CONSUMER).word("group.instance.id") == "x"


def test_a_misspelled_name_below_streams_is_reported() -> None:
    text = "kafka:\n  streams:\n    application.id: a\n    processing.guarante: exactly_once_v2\n"
    assert findings(("application.yaml", text)) == ["EOS-CFG-089 application.yaml:4"]


def test_the_factor_of_a_default_application_is_not_a_brokers() -> None:
    text = "kafka:\n  streams:\n    default:\n      application.id: a\n      replication.factor: 1\n"
    assert only("application.yml", text, Role.STREAMS).number("replication.factor") == 1


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_beginnings_are_read_in_every_spelling(spelling: str) -> None:
    given = {**EOS, **TIMEOUT, "topic.min.insync.replicas": "2"}
    lines = [f"    {SPELLINGS[spelling](name)}: {value}\n" for name, value in given.items()]
    streams = only("application.yaml", f"kafka:\n  streams:\n{''.join(lines)}", Role.STREAMS)
    assert streams.given.keys() == given.keys()
