"""What files mean: formats, roles, prefixes, lines and defaults."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.checks.judge import judge
from eosctl.errors import ConfigFileError
from eosctl.findings.linted import findings_of
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Client, Component, Deployment, Role, ValueSource
from eosctl.model.redaction import SETTING_MASK, setting_text
from eosctl.settings.deployment.deployment_files import read_components, read_deployment
from eosctl.settings.files.documents import parse_documents
from eosctl.settings.formats.tree import Leaf, flatten
from eosctl.settings.values.sources import Releases

GOOD = Path(__file__).parents[1] / "fixtures" / "configs" / "good"
BRIDGE = """apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaBridge
spec:
  consumer:
    config:
      isolation.level: read_uncommitted
"""
STREAMS = "application.id=a\nprocessing.guarantee=exactly_once_v2\n"


def only(file: str, text: str, role: Role, release: tuple[int, int] | None = None) -> Component:
    (found,) = (part for part in read_components(file, text, releases=Releases(release)) if part.role is role)
    return found


def findings(*files: tuple[str, str]) -> list[str]:
    parts = tuple(part for file, text in files for part in read_components(file, text))
    found = findings_of(judge(Deployment(parts, load_tables())))
    return [f"{f.check_id} {facts['file']}:{facts['line']}" for f in found if (facts := dict(f.facts))]


@pytest.mark.parametrize("path", sorted(GOOD.iterdir()), ids=lambda path: path.name)
def test_a_good_configuration_raises_nothing(path: Path) -> None:
    assert findings((path.name, path.read_text("utf-8"))) == []


def test_good_configurations_raise_nothing_together() -> None:
    read = read_deployment([GOOD])
    assert len(read.read) >= 40
    assert read.unreadable == ()
    assert read.without_settings == ()
    # Strangers in one folder: consumers that leave isolation.level to its default stand next to transactions here.
    found = [f for f in findings_of(judge(read.deployment)) if f.check_id != "EOS-CFG-151"]
    assert [str(f.message) for f in found] == []


@pytest.mark.parametrize(
    ("file", "text", "roles"),
    [
        ("x.properties", "process.roles=broker\n", {"broker"}),
        ("x.properties", "zookeeper.connect=a\nbroker.id=1\n", {"broker"}),
        ("x.properties", "transactional.id=a\nacks=all\n", {"producer"}),
        ("x.properties", "group.id=a\nauto.offset.reset=latest\n", {"consumer"}),
        (
            "x.properties",
            "key.serializer=a\nkey.deserializer=b\nacks=all\nauto.offset.reset=latest\n",
            {"producer", "consumer"},
        ),
        ("x.properties", "application.id=a\nnum.stream.threads=2\n", {"streams", "producer", "consumer"}),
        ("x.properties", "quarkus.kafka-streams.application-id=a\n", {"streams", "producer", "consumer"}),
        ("x.yaml", "# note\n\ufeffkind: b\ntransactional.id: a\nacks: all\n", {"producer"}),
        ("x.properties", "config.storage.topic=a\ngroup.id=b\n", {"connect-worker", "producer", "consumer"}),
        ("x.properties", "clusters=a,b\na->b.enabled=true\n", {"mirror-maker"}),
        ("x.properties", "connector.class=x.FileStreamSourceConnector\n", {"source-connector"}),
        ("x.json", '{"connector.class": "x.JdbcThing", "topics": "a"}', {"sink-connector"}),
        ("x.json", '{"retention.ms": "1", "cleanup.policy": "delete"}', {"topic"}),
        ("x.properties", "server.port=80\nlogging.level=info\n", set()),
        ("x.yaml", "a: [1, 2]\n", set()),
        ("x.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: acks}\n", set()),
    ],
)
def test_roles_are_detected_by_keys(file: str, text: str, roles: set[str]) -> None:
    assert {component.role.value for component in read_components(file, text)} == roles


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        (
            "values.yaml",
            "kafka:\n  extraConfig: |\n    log.dirs=/d\n    min.insync.replicas=1\n",
            "EOS-CFG-035 values.yaml:4",
        ),
        (
            "c.json",
            '[{"name": "a", "config":\n {"connector.class": "xSink", "errors.tolerance": "all"}}]',
            "EOS-CFG-093 c.json:2",
        ),
        (
            "bridge.yaml",
            BRIDGE,
            "EOS-CFG-020 bridge.yaml:6",
        ),
        (
            "a.yml",
            "my:\n  kafka:\n    producer-config:\n      transactional.id: t\n      acks: 1\n",
            "EOS-CFG-011 a.yml:5",
        ),
        (
            "q.properties",
            "kafka-streams.application.id=a\nkafka-streams.commit.interval.ms=x\n",
            "EOS-CFG-088 q.properties:2",
        ),
    ],
)
def test_settings_are_found_wherever_they_stand(file: str, text: str, found: str) -> None:
    assert findings((file, text)) == [found]


def test_streams_settings_resolve_defaults_then_prefixes() -> None:
    text = STREAMS + "linger.ms=7\nproducer.linger.ms=8\nmax.poll.records=3\nmain.consumer.max.poll.records=4\n"
    producer, consumer = only("a.properties", text, Role.PRODUCER), only("a.properties", text, Role.CONSUMER)
    assert producer.number("linger.ms") == 8
    assert producer.value("linger.ms").key == "producer.linger.ms"
    assert producer.value("transaction.timeout.ms").text == "10000"
    assert producer.value("transaction.timeout.ms").source is ValueSource.FRAMEWORK
    assert consumer.number("max.poll.records") == 4
    assert consumer.word("isolation.level") == "read_committed"


def test_commit_interval_follows_the_guarantee() -> None:
    assert only("a.properties", STREAMS, Role.STREAMS).number("commit.interval.ms") == 100
    assert only("a.properties", "application.id=a\n", Role.STREAMS).number("commit.interval.ms") == 30_000


@pytest.mark.parametrize(
    ("release", "acks", "idempotence", "linger_ms"),
    [((2, 8), "1", False, 0), ((3, 0), "all", True, 0), ((3, 9), "all", True, 0), ((4, 0), "all", True, 5)],
)
def test_defaults_follow_the_release(release: tuple[int, int], acks: str, idempotence: bool, linger_ms: int) -> None:
    producer = only("p.properties", "key.serializer=a\n", Role.PRODUCER, release)
    assert producer.word("acks") == acks
    assert producer.flag("enable.idempotence") is idempotence
    assert producer.number("linger.ms") == linger_ms


def test_librdkafka_has_its_own_defaults_and_names() -> None:
    producer = only("rdkafka.conf", "message.timeout.ms=5\nqueue.buffering.max.ms=3\n", Role.PRODUCER)
    assert producer.client is Client.LIBRDKAFKA
    assert (producer.number("delivery.timeout.ms"), producer.number("linger.ms")) == (5, 3)
    assert producer.flag("enable.idempotence") is False
    assert (
        only("rdkafka.conf", "enable.auto.offset.store=false\n", Role.CONSUMER).word("isolation.level")
        == "read_committed"
    )


@pytest.mark.parametrize(
    "key",
    [
        "spring.kafka.producer.transaction-id-prefix",
        "spring.kafka.producer.transactionIdPrefix",
        "spring.kafka.producer.transaction_id_prefix",
    ],
)
def test_spring_names_are_relaxed(key: str) -> None:
    producer = only("application.properties", f"{key}=tx\n", Role.PRODUCER)
    assert producer.word("transactional.id") == "tx"
    assert producer.value("transactional.id").key == key


def test_spring_binds_units_and_relaxed_choices() -> None:
    text = "spring.kafka.consumer.isolation-level=READ_COMMITTED\nspring.kafka.consumer.heartbeat-interval=3s\n"
    consumer = only("application.properties", text, Role.CONSUMER)
    assert (consumer.word("isolation.level"), consumer.number("heartbeat.interval.ms")) == ("read_committed", 3_000)
    producer = only("application.properties", "spring.kafka.producer.batch-size=16KB\n", Role.PRODUCER)
    assert producer.number("batch.size") == 16_384
    assert findings(("application.properties", text)) == []


def test_a_spring_profile_lies_over_the_base() -> None:
    text = (
        "spring:\n  kafka:\n    producer:\n      transaction-id-prefix: tx-\n---\nspring:\n"
        "  config.activate.on-profile: prod\n  kafka.producer.properties.transaction.timeout.ms: 5000000\n"
    )
    assert findings(("application.yml", text)) == ["EOS-CFG-004 application.yml:8"]


def test_an_exactly_once_worker_keeps_its_producer_idempotent() -> None:
    text = "config.storage.topic=c\nexactly.once.source.support=enabled\nproducer.enable.idempotence=false\n"
    assert only("w.properties", text, Role.PRODUCER).flag("enable.idempotence") is True
    assert findings(("w.properties", text + "producer.acks=1\n")) == ["EOS-CFG-011 w.properties:4"]


def test_an_image_names_its_release() -> None:
    text = "services:\n  k:\n    image: {}\n    environment:\n      KAFKA_NODE_ID: 1\n"
    images = {"confluentinc/cp-kafka:7.6.1": (3, 6), "apache/kafka:3.9.0": (3, 9), "bitnami/kafka:3.7": (3, 7)}
    assert {image: only("c.yml", text.format(image), Role.BROKER).release for image in images} == images


def test_ini_sections_are_clients_with_shared_defaults() -> None:
    text = "[default]\nbootstrap.servers=a:1\n\n[producer]\n; why\ntransactional.id: x\n[consumer]\ngroup.id = g\n"
    producer, consumer = read_components("client.ini", text)
    assert (producer.role, consumer.role) == (Role.PRODUCER, Role.CONSUMER)
    assert [one.value("bootstrap.servers").word for one in (producer, consumer)] == ["a:1", "a:1"]
    assert dict(flatten(parse_documents("client.ini", text)[0]))["producer.transactional.id"] == Leaf("x", 6)
    alone = only("client.ini", "[default]\ntransactional.id=x\nacks=1\n", Role.PRODUCER)
    assert alone.value("acks").word == "1"
    assert only("client.ini", "[producer]\nacks=1\nacks=0\n", Role.PRODUCER).value("acks").word == "0"


def test_placeholders_are_not_values() -> None:
    value = only("p.properties", "transactional.id=${X}\nacks=all\n", Role.PRODUCER).value("transactional.id")
    assert (value.resolved, value.word) == (False, None)


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("a.yaml", "a: 1\nb: [\n", 3),
        ("a.json", '{\n "a": 1,\n "b": }', 3),
        ("a.toml", "a = 1\nb = \n", 2),
        ("a.env", "A=1\nnonsense\n", 2),
        ("a.ini", "[a]\n = 1\n", 2),
        ("a.ini", "nothing\n[a]\n", 1),
        ("a.properties", "a=1\nb=\\uZZZZ\n", 2),
        ("a.sql", "SELECT 1;\nCREATE TABLE t (a INT) WITH ('a'='b'\n", 2),
        ("a.yaml", "a: &x [*x]\n", 1),
    ],
)
def test_a_malformed_file_is_reported_with_its_line(file: str, text: str, line: int) -> None:
    with pytest.raises(ConfigFileError, match=rf"^{file}:{line}: "):
        read_components(file, text)


@pytest.mark.parametrize("text", ["redpanda:\n  a: [\n", "enable.idempotence: [\n", "min.insync.replicas: [\n"])
def test_a_malformed_file_about_kafka_is_unreadable(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.yaml").write_text(text, "utf-8")
    (tmp_path / "other.yaml").write_text("acks: [\n", "utf-8")
    found = read_deployment([tmp_path])
    assert [Path(one.file).name for one in found.unreadable] == ["a.yaml"]


def test_aliases_cannot_explode() -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))
    with pytest.raises(ConfigFileError, match="aliases repeat"):
        read_components("bomb.yaml", bomb)


def test_a_malformed_file_does_not_stop_the_others(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("kafka: [", "utf-8")
    (tmp_path / "b.properties").write_bytes(b"transactional.id=\xe4\nacks=1\n")
    (tmp_path / "c.yaml").write_bytes(b"kafka: \xff\n")
    (tmp_path / "notes.txt").write_text("acks=1", "utf-8")
    read = read_deployment([tmp_path])
    assert [Path(one.file).name for one in read.unreadable] == ["a.yaml", "c.yaml"]
    assert [Path(file).name for file in read.read] == ["b.properties"]


def test_a_role_can_be_given(tmp_path: Path) -> None:
    path = tmp_path / "strange.conf"
    path.write_text("request.timeout.ms=5\n", "utf-8")
    (component,) = read_deployment([path], roles={"strange.conf": Role.PRODUCER}).deployment.components
    assert component.role is Role.PRODUCER


def test_secrets_are_masked() -> None:
    assert setting_text("ssl.key.password", "x") == SETTING_MASK
    assert setting_text("sasl.jaas.config", "x") == SETTING_MASK
    assert setting_text("acks", "all") == "all"


keys = st.from_regex(r"[a-z][a-z0-9.]{0,12}", fullmatch=True)
texts = st.from_regex(r"[A-Za-z0-9/:_-]{1,12}", fullmatch=True)


@given(st.dictionaries(keys, texts, min_size=1, max_size=6))
def test_flat_formats_mean_the_same(settings: dict[str, str]) -> None:
    documents = {
        "a.properties": "".join(f"{key}={text}\n" for key, text in settings.items()),
        "a.json": json.dumps(settings, indent=1),
        "a.yaml": "".join(f"{key!r}: {text!r}\n" for key, text in settings.items()),
        "a.toml": "".join(f"{json.dumps(key)} = {json.dumps(text)}\n" for key, text in settings.items()),
    }
    for file, text in documents.items():
        (tree,) = parse_documents(file, text)
        leaves = list(flatten(tree))
        assert {key: leaf.text for key, leaf in leaves} == settings, file
        first = 2 if file == "a.json" else 1
        assert [leaf.line for _, leaf in leaves] == [first + index for index in range(len(settings))], file


@given(
    st.text(max_size=200), st.sampled_from(["a.properties", "a.yaml", "a.json", "a.toml", "a.env", "a.sql", "a.ini"])
)
def test_no_text_ends_in_another_error(text: str, file: str) -> None:
    try:
        read_components(file, text)
    except ConfigFileError as error:
        assert error.what.startswith(f"{file}:")


def test_templates_in_a_folder_are_not_configurations(tmp_path: Path) -> None:
    template = tmp_path / "templates" / "config.yaml"
    template.parent.mkdir()
    template.write_text("{{- if .Values.kafka }}\nacks: {{ .Values.acks }}\n{{- end }}\n")
    (tmp_path / "broken.yaml").write_text("kafka: [\n")
    read = read_deployment([tmp_path])
    assert [Path(one.file).name for one in read.unreadable] == ["broken.yaml"]
    assert [Path(file).name for file in read.without_settings] == ["config.yaml"]
    assert read_deployment([template]).not_understood == (str(template),)


def test_a_template_is_judged_for_what_is_written_in_it(tmp_path: Path) -> None:
    template = tmp_path / "templates" / "config.yaml"
    template.parent.mkdir()
    (tmp_path / "values.yaml").write_text("replicaCount: 3\n")
    template.write_text(
        "{{- if .Values.kafka }}\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-kafka\n"
        "data:\n  a.properties: |\n    bootstrap.servers={{ .Values.brokers }}\n    transactional.id=t\n{{- end }}\n"
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: a\nspec:\n"
        "  replicas: {{ .Values.replicaCount }}\n  template:\n    spec:\n      volumes:\n"
        "        - configMap:\n            name: {{ .Release.Name }}-kafka\n"
    )
    (producer,) = read_deployment([template]).deployment.components
    value = producer.value("transactional.id")
    assert (value.text, value.place and value.place.line) == ("t", 9)
    assert producer.instances is not None
    assert producer.instances.number == 3


@pytest.mark.parametrize(
    ("file", "raw", "reason"),
    [
        ("a.properties", b" \n\n", "is empty"),
        ("a.properties", "acks=1\n".encode("utf-16-le"), "NUL"),
        ("a.yaml", b"kafka: {acks: [\n", "a.yaml:2"),
    ],
)
def test_a_file_that_was_not_read_is_never_silent(tmp_path: Path, file: str, raw: bytes, reason: str) -> None:
    (tmp_path / file).write_bytes(raw)
    (broken,) = read_deployment([tmp_path / file]).unreadable
    assert reason in broken.error.what


def test_files_about_other_things_are_not_errors(tmp_path: Path) -> None:
    (tmp_path / "tsconfig.json").write_text("{\n // x\n 'a': 1}")
    (tmp_path / "chart.yaml").write_text("a: {{ x }}\nb: [\n")
    (tmp_path / "latin.yaml").write_bytes(b"name: J\xf6rg\n")
    (tmp_path / "service.yaml").write_text("apiVersion: v1\nkind: Service\nmetadata: {name: kafka}\n")
    (tmp_path / "package.json").write_text('{"dependencies": {"kafkajs": "2.2.4"}}')
    read = read_deployment([tmp_path])
    assert (read.unreadable, read.not_understood) == ((), ())


def test_a_file_about_kafka_that_was_not_understood_is_named(tmp_path: Path) -> None:
    (tmp_path / "fluent.conf").write_text("<match x>\n  @type kafka2\n  required_acks 1\n</match>\n")
    assert [Path(file).name for file in read_deployment([tmp_path]).not_understood] == ["fluent.conf"]


def test_a_resource_with_defaults_of_its_own_is_named(tmp_path: Path) -> None:
    (tmp_path / "k.yaml").write_text(
        "apiVersion: kafka.example.com/v1\nkind: KafkaCluster\nspec: {replicas: 1}\n", "utf-8"
    )
    assert read_deployment([tmp_path]).not_understood == (str(tmp_path / "k.yaml"),)


def test_utf_16_with_its_mark_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.properties").write_bytes("transactional.id=t\n".encode("utf-16"))
    (producer,) = read_deployment([tmp_path]).deployment.components
    assert producer.word("transactional.id") == "t"


def test_a_container_of_tools_is_not_a_broker() -> None:
    text = (
        "services:\n  tools:\n    image: confluentinc/cp-kafka:7.6.0\n    environment:\n"
        "      KAFKA_BROKER_ID: ignored\n      KAFKA_ZOOKEEPER_CONNECT: ignored\n"
    )
    assert read_components("docker-compose.yml", text) == []


@pytest.mark.parametrize(("origin", "expected"), [("image: confluentinc/cp-kafka:7.6.0", 1), ("build: .", 0)])
def test_what_a_built_image_adds_is_not_known(origin: str, expected: int) -> None:
    text = f"services:\n  kafka:\n    {origin}\n    environment: {{KAFKA_ZOOKEEPER_CONNECT: z:2181}}\n"
    assert len(findings(("compose.yml", text))) == expected


@pytest.mark.parametrize(
    ("listeners", "expected"), [("    listeners: [{name: a}]\n", ["EOS-CFG-149 kafka.yaml:1"]), ("", [])]
)
def test_a_whole_resource_without_settings_has_the_defaults(listeners: str, expected: list[str]) -> None:
    head = "apiVersion: kafka.strimzi.io/v1\nkind: Kafka\nmetadata: {name: shop}\nspec:\n  kafka:\n    replicas: 1\n"
    assert findings(("kafka.yaml", head + listeners)) == expected
