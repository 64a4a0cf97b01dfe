"""The release of Kafka's clients, from build files in the forms that Maven, Gradle, and sbt have."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.deployment import Role
from eosctl.settings.deployment.deployment_files import read_deployment, read_texts
from eosctl.settings.releases.build_files import clients_release

POM = "<groupId>org.apache.kafka</groupId>\n<artifactId>kafka-streams</artifactId>\n<version>{}</version>"
BOOT = "<artifactId>spring-boot-starter-parent</artifactId><version>3.3.5</version> spring-kafka"


@pytest.mark.parametrize(
    ("texts", "release"),
    [
        ([POM.format("3.7.1")], "3.7"),
        (["<kafka.version>4.0.0</kafka.version>", POM.format("${kafka.version}")], "4.0"),
        (["implementation 'org.apache.kafka:kafka-clients:2.5.1'"], "2.5"),
        (["kafkaVersion=3.6.1", 'implementation("org.apache.kafka:kafka-clients:$kafkaVersion")'], "3.6"),
        (["ext { kafka = '3.1.0' }\nimplementation \"org.apache.kafka:kafka-streams:${kafka}\""], "3.1"),
        (["api group: 'org.apache.kafka', name: 'kafka-clients', version: '3.2.0'"], "3.2"),
        (['"org.apache.kafka" %% "kafka-streams-scala" % kafkaVersion', 'val kafkaVersion = "3.8.0"'], "3.8"),
        (['kafka = "3.4.1"\nclients = { module = "org.apache.kafka:kafka-clients", version.ref = "kafka" }'], "3.4"),
        ([BOOT], "3.7"),
        ([BOOT, "<kafka.version>3.9.1</kafka.version>"], "3.9"),
        (["id 'org.springframework.boot' version '2.7.18'\norg.springframework.kafka:spring-kafka"], "3.1"),
        (["org.apache.kafka:kafka-streams-test-utils:4.0.0"], ""),
        (["org.apache.kafka:kafka-clients:3.5.0", "org.apache.kafka:kafka-clients:4.0.0"], ""),
        (["org.apache.kafka:kafka-clients:${elsewhere}"], ""),
        (["<artifactId>spring-boot-starter-parent</artifactId><version>3.3.5</version>"], ""),
    ],
)
def test_build_files_name_the_release(texts: list[str], release: str) -> None:
    assert clients_release(texts) == release


def test_the_nearest_build_file_gives_the_release(tmp_path: Path) -> None:
    (tmp_path / "pom.xml").write_text(POM.format("3.1.0"))
    for name, version in (("a", "3.5.0"), ("b", "")):
        folder = tmp_path / name / "src" / "main" / "resources"
        folder.mkdir(parents=True)
        (tmp_path / name / "pom.xml").write_text(POM.format(version) if version else "<project/>")
        (folder / "streams.properties").write_text("application.id=x\nbootstrap.servers=k:9092\n")
    read = read_deployment([tmp_path])
    found = {one.place.file.removeprefix(f"{tmp_path}/")[0]: one for one in read.deployment.of(Role.STREAMS)}
    assert {name: (one.release, one.release_named) for name, one in found.items()} == {
        "a": ((3, 5), True),
        "b": ((3, 1), True),
    }


WORKER = "group.id=c\nconfig.storage.topic=c\noffset.storage.topic=o\nstatus.storage.topic=s\n"
CONNECTOR = '{"name": "s", "config": {"connector.class": "org.acme.JdbcSinkConnector", "topics": "t"}}'


def test_topics_have_the_release_of_their_brokers() -> None:
    topic = "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaTopic\nmetadata: {name: t}\nspec: {replicas: 3}\n"
    kafka = (
        "apiVersion: kafka.strimzi.io/v1beta2\nkind: Kafka\nmetadata: {name: c}\n"
        "spec: {kafka: {version: 3.8.0, replicas: 3, config: {min.insync.replicas: 2}}}\n"
    )
    near = read_texts({"kafka.yaml": kafka, "topics/t.yaml": topic})
    far = read_texts({"old/kafka.yaml": kafka, "new/t.yaml": topic})
    assert [one.release for one in near if one.role is Role.TOPIC] == [(3, 8)]
    assert [one.release_named for one in far if one.role is Role.TOPIC] == [False]


def test_connectors_have_the_release_of_their_workers() -> None:
    compose = (
        "services:\n  connect:\n    image: confluentinc/cp-kafka-connect:7.6.1\n    environment:\n"
        "      CONNECT_GROUP_ID: c\n      CONNECT_CONFIG_STORAGE_TOPIC: c\n      CONNECT_OFFSET_STORAGE_TOPIC: o\n"
    )
    found = read_texts({"compose.yaml": compose, "connectors/s.json": CONNECTOR})
    assert [one.release for one in found if one.role is Role.SINK_CONNECTOR] == [(3, 6)]


def test_a_variable_of_ansible_names_the_release_of_brokers() -> None:
    files = {"group_vars/all.yml": 'kafka_version: "3.6.2"\n', "files/server.properties": "broker.id=1\nlog.dirs=/d\n"}
    assert [one.release for one in read_texts(files)] == [(3, 6)]


DECLARED = "dependencies { implementation 'org.apache.kafka:kafka-streams:%s' }\n"
PIECE = "<groupId>org.apache.kafka</groupId><artifactId>kafka-streams</artifactId><version>%s</version>\n"


@pytest.mark.parametrize(
    ("files", "release"),
    [
        ({"app/build.gradle": DECLARED % "2.7.1"}, (2, 7)),
        ({"app/build.gradle": DECLARED % "2.7.1", "web/build.gradle": "plugins {}\n"}, (2, 7)),
        ({"app/build.gradle": DECLARED % "2.7.1", "node_modules/x/build.gradle": DECLARED % "3.1.0"}, (2, 7)),
        ({"app/build.gradle": DECLARED % "2.7.1", "web/build.gradle": DECLARED % "3.1.0"}, None),
        ({"pom-snippet.xml": PIECE % "3.1.0"}, (3, 1)),
        ({"gradle/dependencies.gradle": DECLARED % "3.1.0"}, (3, 1)),
        ({"build.gradle": DECLARED % "3.2.0", "app/build.gradle": DECLARED % "2.7.1"}, (3, 2)),
        ({"README.md": PIECE % "3.1.0"}, None),
    ],
)
def test_the_only_release_of_a_project_is_that_of_its_clients(
    files: dict[str, str], release: tuple[int, int] | None, tmp_path: Path
) -> None:
    for name, text in {"deploy/streams.properties": "application.id=a\n", **files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    streams = next(one for one in read_deployment([tmp_path]).deployment.components if one.role is Role.STREAMS)
    assert (streams.release if streams.release_named else None) == release
