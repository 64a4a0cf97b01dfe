"""The client library of a configuration, by the dependencies of the project around it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from eosctl.model.deployment import Client
from eosctl.settings.deployment_files import read_deployment

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
