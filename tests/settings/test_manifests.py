"""The client library of a configuration, by the dependencies of the project around it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from eosctl.model.deployment import Client
from eosctl.services.lint_configuration import LintRequest, lint_configuration
from eosctl.settings.deployment.deployment_files import read_deployment

KAFKA = '{"consumer": {"group.id": "g", "session.timeout.ms": 45000}}'


def clients(folder: Path, files: Mapping[str, str], named: str = "") -> set[Client]:
    for name, text in {"app/config/kafka.json": KAFKA, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return {component.client for component in read_deployment([folder / named]).deployment.components}


@pytest.mark.parametrize(
    ("files", "client"),
    [
        ({"app/requirements.txt": "confluent-kafka==2.6.1\n"}, Client.LIBRDKAFKA),
        ({"requirements.txt": "confluent-kafka==2.6.1\n"}, Client.LIBRDKAFKA),
        ({"app/go.mod": "require github.com/confluentinc/confluent-kafka-go/v2 v2.6.0\n"}, Client.LIBRDKAFKA),
        ({"app/Pay.csproj": '<PackageReference Include="Confluent.Kafka" Version="2.6.0" />\n'}, Client.LIBRDKAFKA),
        ({"app/package.json": '{"dependencies": {"@confluentinc/kafka-javascript": "1"}}'}, Client.LIBRDKAFKA),
        ({"app/package.json": '{"dependencies": {"kafkajs": "2", "node-rdkafka": "3"}}'}, Client.JAVA),
        ({"app/requirements.txt": "confluent-kafka\n", "app/pom.xml": "<project/>"}, Client.JAVA),
        ({"app/requirements.txt": "requests\n", "requirements.txt": "confluent-kafka\n"}, Client.JAVA),
        ({}, Client.JAVA),
    ],
)
def test_the_nearest_list_of_dependencies_names_the_library(
    tmp_path: Path, files: Mapping[str, str], client: Client
) -> None:
    assert clients(tmp_path, files) == {client}


def test_a_list_outside_of_the_given_folder_does_not_count(tmp_path: Path) -> None:
    assert clients(tmp_path, {"requirements.txt": "confluent-kafka\n"}, "app") == {Client.JAVA}


def test_serializers_of_java_show_a_client_of_java(tmp_path: Path) -> None:
    own = '{"consumer": {"group.id": "g", "key.deserializer": "o.a.k.StringDeserializer"}}'
    files = {"app/config/kafka.json": own, "requirements.txt": "confluent-kafka\n"}
    assert clients(tmp_path, files) == {Client.JAVA}


TRANSACTIONS = '{"producer": {"transactional.id": "a", "enable.idempotence": true}}'
OLDER = [
    ("requirements.txt", "confluent-kafka==1.3.0\n", "librdkafka 1.4; here runs 1.3"),
    ("pyproject.toml", 'dependencies = ["confluent_kafka[avro] ~= 1.2.0"]\n', "librdkafka 1.4; here runs 1.2"),
    ("Pipfile", 'confluent-kafka = {version = "==1.1.0", extras = ["avro"]}\n', "librdkafka 1.4; here runs 1.1"),
    ("Pay.csproj", '<PackageReference Include="Confluent.Kafka" Version="1.3.0" />\n', "librdkafka 1.4; here runs 1.3"),
    ("go.mod", "require github.com/confluentinc/confluent-kafka-go v1.3.0\n", "librdkafka 1.4; here runs 1.3"),
    ("requirements.txt", "confluent-kafka>=1.3.0\n", ""),
    ("requirements.txt", "confluent-kafka==1.4.0\n", ""),
    ("pyproject.toml", 'confluent-kafka = "^1.3.0"\n', ""),
    ("go.mod", "require github.com/confluentinc/confluent-kafka-go/v2 v2.3.0\n", ""),
]


@pytest.mark.parametrize(("name", "text", "expected"), OLDER)
def test_a_pinned_library_has_its_own_settings(name: str, text: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "kafka.json").write_text(TRANSACTIONS, "utf-8")
    linted = lint_configuration(LintRequest((tmp_path,))).linted
    found = [one.message for one in linted.diagnosis.findings if one.check_id == "EOS-CFG-141"]
    assert [message for message in found if expected not in message] == []
    assert bool(found) == bool(expected)


def test_keyword_arguments_of_an_older_client_are_refused(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("kafka-python==2.0.2\n", "utf-8")
    own = "kafka:\n  producer:\n    enable_idempotence: true\n    linger_ms: 5\n"
    (tmp_path / "kafka.yaml").write_text(own, "utf-8")
    found = lint_configuration(LintRequest((tmp_path,))).found
    assert [(one.check_id, one.severity.value) for one in found] == [("EOS-CFG-141", "error")]


def test_the_library_of_a_tool_is_not_that_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("confluent-kafka==1.3.0\n", "utf-8")
    options = '[sinks.a.librdkafka_options]\n"transactional.id" = "a"\n'
    sink = '[sinks.a]\ntype = "kafka"\nbootstrap_servers = "k:1"\ntopic = "t"\n'
    (tmp_path / "vector.toml").write_text(sink + options, "utf-8")
    assert "EOS-CFG-141" not in {one.check_id for one in lint_configuration(LintRequest((tmp_path,))).found}
