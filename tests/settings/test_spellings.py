"""One mistake in the spellings of many tools: charts, variables, topic files, brackets, channels."""

from __future__ import annotations

import pytest

from eosctl.checks.judge import judge
from eosctl.findings.linted import findings_of
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Deployment
from eosctl.settings.deployment.deployment_files import read_components


def found(file: str, text: str) -> set[str]:
    findings = findings_of(judge(Deployment(tuple(read_components(file, text)), load_tables())))
    return {f"{f.check_id}:{dict(f.facts)['line']}" for f in findings}


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        (
            "a.properties",
            (
                "spring.kafka.streams.application-id=a\n"
                "spring.kafka.streams.properties[processing.guarantee]=exactly_once\n"
                "spring.kafka.streams.properties[commit.interval.ms]=20000\n"
            ),
            {"EOS-CFG-001:3", "EOS-CFG-051:2"},
        ),
        (
            "application.yml",
            (
                "spring.cloud.stream.kafka.binder:\n  transaction:\n    transaction-id-prefix: a-\n"
                '    producer:\n      "configuration[acks]": 1\n'
            ),
            {"EOS-CFG-011:5"},
        ),
        ("app.env", "KAFKA_TRANSACTIONAL_ID=a\nKAFKA_ENABLE_IDEMPOTENCE=false\n", {"EOS-CFG-010:2"}),
        ("app.env", "TRANSACTIONAL_ID=a\nENABLE_IDEMPOTENCE=false\nHOME=/\n", {"EOS-CFG-010:2"}),
        ("app.env", "transactional.id=a\nenable.idempotence=false\n", {"EOS-CFG-010:2"}),
        (
            "app.env",
            (
                "KAFKA_STREAMS_APPLICATION_ID=a\nKAFKA_STREAMS_PROCESSING_GUARANTEE=exactly_once_v2\n"
                "KAFKA_STREAMS_COMMIT_INTERVAL_MS=30000\n"
            ),
            {"EOS-CFG-001:3"},
        ),
        ("app.env", "MP_MESSAGING_INCOMING_IN_ISOLATION_LEVEL=read_uncommitted\n", {"EOS-CFG-020:1"}),
        ("broker.env", "KAFKA_NODE_ID=1\nKAFKA_UNCLEAN_LEADER_ELECTION_ENABLE=true\n", {"EOS-CFG-037:2"}),
        (
            "compose.yml",
            (
                "services:\n  app:\n    image: acme/app\n    environment:\n      KAFKA_PRODUCER_TRANSACTIONAL_ID: a\n"
                '      KAFKA_PRODUCER_ACKS: "1"\n'
            ),
            {"EOS-CFG-011:6"},
        ),
        (
            "values.yaml",
            "broker:\n  extraEnvVars:\n    - name: KAFKA_CFG_LOG_CLEANER_ENABLE\n      value: 'false'\n",
            {"EOS-CFG-080:4"},
        ),
        ("values.yaml", "customEnv:\n  KAFKA_CFG_LOG_CLEANER_ENABLE: false\n", {"EOS-CFG-080:2"}),
        (
            "app.properties",
            (
                "mp.messaging.outgoing.out.transactional.id=a\nmp.messaging.incoming.in.enable.auto.commit=true\n"
                "mp.messaging.incoming.in.isolation.level=read_committed\nmp.messaging.outgoing.out.acks=all\n"
            ),
            {"EOS-CFG-021:2"},
        ),
        (
            "application.yml",
            (
                "kafka-streams:\n  application.id: a\n  processing.guarantee: exactly_once_v2\n"
                "  commit.interval.ms: 15000\n"
                "mp:\n  messaging:\n    outgoing:\n      o:\n        transactional.id: a\n        acks: all\n"
            ),
            {"EOS-CFG-001:4"},
        ),
        (
            "topics.yaml",
            "topics:\n  orders:\n    partitions: 6\n    replication: 2\n    configs:\n      min.insync.replicas: 3\n",
            {"EOS-CFG-034:6"},
        ),
        (
            "topics.json",
            (
                '[{"name": "__consumer_offsets", "partitions": 10,\n "config": [{"name": "cleanup.policy",\n'
                ' "value": "delete"}]}]\n'
            ),
            {"EOS-CFG-030:1", "EOS-CFG-097:3"},
        ),
        (
            "main.tf.json",
            (
                '{"resource": {"kafka_topic": {"t": {"name": "t", "partitions": 3, "replication_factor": 2,\n'
                '  "config": {"min.insync.replicas": "3"}}}}}\n'
            ),
            {"EOS-CFG-034:2"},
        ),
        (
            "topics.yaml",
            "- topic: a\n  partitions: 3\n  replicas: 1\n  min.insync.replicas: 2\n",
            {"EOS-CFG-034:4", "EOS-CFG-166:3"},
        ),
        (
            "source.json",
            (
                '{"connector.class": "a.MySourceConnector",\n "exactly.once.support": "required",\n'
                ' "producer.override.transaction.timeout.ms": "1800000"}\n'
            ),
            {"EOS-CFG-004:3"},
        ),
    ],
)
def test_a_mistake_is_found_in_every_spelling(file: str, text: str, expected: set[str]) -> None:
    assert found(file, text) == expected


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("topics.yaml", "topics:\n  a: {partitions: 3, replication: 3, configs: {min.insync.replicas: 2}}\n"),
        ("values.yaml", "name: web\nreplicas: 1\nconfig:\n  level: info\n"),
        ("values.yaml", "env:\n  LOG_LEVEL: info\n  NAME: web\n"),
        ("app.env", "TOPIC=orders\nNAME=web\nPORT=80\n"),
        ("app.env", "KAFKA_BOOTSTRAP_SERVERS=a:9092\nKAFKA_TRANSACTIONAL_ID=a\nKAFKA_ACKS=all\n"),
        ("deployment.yaml", "kind: Deployment\napiVersion: apps/v1\nspec: {replicas: 3}\n"),
        (
            "source.json",
            (
                '{"connector.class": "a.MySourceConnector", "exactly.once.support": "required",'
                ' "producer.override.transactional.id": "mine", "producer.override.transaction.timeout.ms": "600000"}'
            ),
        ),
    ],
)
def test_what_is_right_or_something_else_raises_nothing(file: str, text: str) -> None:
    assert found(file, text) == set()


def test_a_topic_is_called_by_its_name_or_its_key() -> None:
    text = "topics:\n  by-key: {partitions: 1, config: {retention.ms: 1}}\n  x: {name: own, partitions: 1}\n"
    assert [part.name for part in read_components("t.yaml", text)] == ["t.yaml (by-key)", "t.yaml (own)"]


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        (
            "app.yaml",
            "kafka:\n  producer:\n    enable_idempotence: false\n    transactional_id: x\n",
            {"EOS-CFG-010:3"},
        ),
        ("app.yaml", "kafka:\n  producer:\n    enableIdempotence: false\n    transactionalId: x\n", {"EOS-CFG-010:3"}),
        ("app.toml", "[producer]\ntransactional-id = 'x'\nenable-idempotence = false\n", {"EOS-CFG-010:3"}),
        (
            "topics.yaml",
            "topics:\n  - name: a\n    partitions: 1\n    replicas: 3\n    config:\n      min_insync_replicas: 4\n",
            {"EOS-CFG-034:6"},
        ),
        # Kafka reads these itself, and knows its own spelling alone.
        ("producer.properties", "transactional.id=x\nkey.serializer=s\nenable_idempotence=false\n", {"EOS-CFG-089:3"}),
        # Of no Kafka: names that stand in files about anything.
        (
            "login.yaml",
            "oidc:\n  client_id: a\n  client_secret: b\n  request_timeout_ms: 1\n  session_timeout_ms: 1\n",
            set(),
        ),
        ("pool.json", '{"clientId": "a", "groupId": "b", "batchSize": 1, "maxConnections": -5, "nodeId": "x"}', set()),
    ],
)
def test_a_mistake_in_a_tools_own_spelling(file: str, text: str, expected: set[str]) -> None:
    assert found(file, text) == expected


CONFLUENT = """apiVersion: platform.confluent.io/v1beta1
kind: {kind}
metadata:
  name: it
spec:
"""


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        (
            "kafka.yaml",
            CONFLUENT.format(kind="Kafka")
            + "  configOverrides:\n    server:\n      - transaction.state.log.replication.factor=3\n"
            + "      - transaction.state.log.min.isr=1\n",
            {"EOS-CFG-032:9"},
        ),
        (
            "topic.yaml",
            CONFLUENT.format(kind="KafkaTopic")
            + "  replicas: 3\n  partitionCount: 4\n  configs:\n    min.insync.replicas: 4\n",
            {"EOS-CFG-034:9"},
        ),
        (
            "connector.yaml",
            CONFLUENT.format(kind="Connector")
            + "  class: x.JdbcSinkConnector\n  configs:\n    topics: a\n    errors.tolerance: all\n",
            {"EOS-CFG-093:9"},
        ),
        # A properties file in a resource of an operator's own.
        (
            "cluster.yaml",
            (
                "apiVersion: kafka.banzaicloud.io/v1beta1\nkind: KafkaCluster\nspec:\n  readOnlyConfig: |\n"
                "    auto.create.topics.enable=false\n    unclean.leader.election.enable=true\n"
            ),
            {"EOS-CFG-037:6"},
        ),
        # YAML in YAML, and in Terraform.
        (
            "app.yaml",
            (
                "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec:\n  source:\n    helm:\n      values: |\n"
                "        broker:\n          config:\n            unclean.leader.election.enable: true\n"
            ),
            {"EOS-CFG-037:9"},
        ),
        (
            "release.tf",
            (
                'resource "helm_release" "kafka" {\n  name = "kafka"\n  values = [<<-YAML\n    broker:\n'
                "      config:\n        unclean.leader.election.enable: true\n  YAML\n  ]\n}\n"
            ),
            {"EOS-CFG-037:6"},
        ),
        (
            "task.tf",
            (
                "locals {\n  c = jsonencode([{\n    environment = [\n"
                '      { name = "KAFKA_TRANSACTIONAL_ID", value = "a" },\n'
                '      { name = "KAFKA_ENABLE_IDEMPOTENCE", value = "false" },\n    ]\n  }])\n}\n'
            ),
            {"EOS-CFG-010:5"},
        ),
        (
            "kustomization.yaml",
            (
                "configMapGenerator:\n  - name: s\n    literals:\n      - application.id=a\n"
                "      - processing.guarantee=exactly_once_v2\n      - commit.interval.ms=20000\n"
            ),
            {"EOS-CFG-001:6"},
        ),
        # Confluent's .NET binding stands on librdkafka.
        (
            "appsettings.json",
            '{"Kafka": {"Producer": {\n"TransactionalId": "d",\n"EnableIdempotence": false}}}',
            {"EOS-CFG-070:3"},
        ),
    ],
)
def test_a_mistake_where_operators_and_tools_keep_settings(file: str, text: str, expected: set[str]) -> None:
    assert {one for one in found(file, text) if not one.startswith("EOS-CFG-130")} == expected


@pytest.mark.parametrize("switch", ["offsets:\n      auto_commit: %s", "offsets:\n      autoCommit: {enable: %s}"])
@pytest.mark.parametrize(("text", "expected"), [("false", []), ("true", ["EOS-CFG-021"])])
def test_saramas_switch_of_the_automatic_commit(switch: str, text: str, expected: list[str]) -> None:
    written = f"kafka:\n  producer:\n    transaction_id: a\n  consumer:\n    group: g\n    {switch % text}\n"
    deployment = Deployment(tuple(read_components("config.yaml", written)), load_tables())
    assert [one.check_id for one in findings_of(judge(deployment)) if one.check_id == "EOS-CFG-021"] == expected
