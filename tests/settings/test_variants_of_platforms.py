"""Forms that platform teams' repositories have: variants of one resource, fragments, single hosts, cluster links."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.analysis.read_as import read_as
from eosctl.checks.judge import judge
from eosctl.findings.linted import findings_of
from eosctl.services.lint_configuration import LintRequest, lint_configuration
from eosctl.settings.deployment.deployment_files import read_deployment

BROKER = """apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  replicas: 1
  template:
    spec:
      containers:
        - name: kafka
          image: apache/kafka:4.0.0
          env:
            - {name: KAFKA_NODE_ID, value: "1"}
            - {name: KAFKA_PROCESS_ROLES, value: "broker,controller"}
            - {name: KAFKA_CONTROLLER_QUORUM_VOTERS, value: "1@localhost:9093"}
            - {name: KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR, value: "1"}
            - {name: KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR, value: "1"}
            - {name: KAFKA_TRANSACTION_STATE_LOG_MIN_ISR, value: "1"}
"""
SERVICES = """parcels-db:
  image: postgres:17
  ports: ["5432"]
parcels-kafka:
  image: apache/kafka:4.0.0
  environment:
    KAFKA_NODE_ID: 1
    KAFKA_PROCESS_ROLES: broker,controller
    KAFKA_CONTROLLER_QUORUM_VOTERS: 1@parcels-kafka:9093
    KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: COPIES
    KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: 1
    KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: 1
"""
APART = """services:
  c1:
    image: apache/kafka:4.0.0
    environment: {KAFKA_NODE_ID: 1, KAFKA_PROCESS_ROLES: controller, KAFKA_CONTROLLER_QUORUM_VOTERS: "1@c1:9093"}
"""
ONE_BROKER = """  b%d:
    image: apache/kafka:4.0.0
    environment:
      KAFKA_NODE_ID: 10%d
      KAFKA_PROCESS_ROLES: broker
      KAFKA_CONTROLLER_QUORUM_VOTERS: "1@c1:9093"
      KAFKA_DEFAULT_REPLICATION_FACTOR: 1
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: 1
      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: 1
"""
INVENTORY = """kafka_controller:
  hosts: {c-1: {node_id: 9}}
kafka_broker:
  hosts:
    k-1:
      broker_id: 1
      kafka_broker:
        properties:
          offsets.topic.replication.factor: 1
          transaction.state.log.replication.factor: 1
          transaction.state.log.min.isr: 1
"""
PINOT = """{"streamConfigs": {"streamType": "kafka", "stream.kafka.topic.name": "a",
"stream.kafka.consumer.prop.auto.offset.reset": "%s"}}
"""
CHANNELS = """quarkus:
  http: {port: 8080, cors: true}
  log: {level: INFO}
  datasource: {db-kind: postgresql, username: parcels}
mp:
  messaging:
    outgoing:
      parcels: {connector: smallrye-kafka, topic: parcels, acks: all, transactional.id: parcels-1}
    incoming:
      ports: {connector: CONNECTOR, topic: ports}
"""


def found(folder: Path, files: dict[str, str]) -> set[tuple[str, str, int]]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    facts = ((one.check_id, dict(one.facts)) for one in findings_of(judge(read_deployment([folder]).deployment)))
    return {(check, Path(str(fact["file"])).name, int(str(fact["line"]))) for check, fact in facts}


def titles(path: Path) -> list[str]:
    return [one.title for one in read_as(read_deployment([path]).deployment)]


def test_variants_of_one_workload_are_one_broker(tmp_path: Path) -> None:
    files = {f"{name}.yml": BROKER.replace("NAME", "parcels") for name in ("minikube", "openshift")}
    assert found(tmp_path, {**files, "both.yml": BROKER.replace("NAME", "parcels") * 1}) == set()


def test_workloads_of_other_names_are_other_brokers(tmp_path: Path) -> None:
    files = {f"{name}.yml": BROKER.replace("NAME", name) for name in ("a", "b")}
    assert ("EOS-CFG-150", "b.yml", 12) in found(tmp_path, files)


@pytest.mark.parametrize(("factor", "expected"), [("1", set()), ("3", {("EOS-CFG-149", "infra.yml", 10)})])
def test_services_without_the_word_are_compose(
    factor: str, expected: set[tuple[str, str, int]], tmp_path: Path
) -> None:
    assert found(tmp_path, {"infra.yml": SERVICES.replace("COPIES", factor)}) == expected


def test_jobs_with_images_are_not_services(tmp_path: Path) -> None:
    job = "test:\n  image: apache/kafka:4.0.0\n  script: [make]\n  environment: {KAFKA_NODE_ID: 1}\n"
    assert found(tmp_path, {"jobs.yml": job}) == set()


def test_one_broker_next_to_its_controllers_is_alone(tmp_path: Path) -> None:
    assert found(tmp_path, {"compose.yaml": APART + ONE_BROKER % (1, 1)}) == set()


def test_two_brokers_next_to_their_controllers_are_not_alone(tmp_path: Path) -> None:
    files = {"compose.yaml": APART + ONE_BROKER % (1, 1) + ONE_BROKER % (2, 2)}
    assert {check for check, _, _ in found(tmp_path, files)} == {"EOS-CFG-032", "EOS-CFG-035", "EOS-CFG-036"}


def test_the_only_host_of_a_group_is_the_only_broker(tmp_path: Path) -> None:
    assert found(tmp_path, {"hosts.yml": INVENTORY}) == set()
    several = INVENTORY.replace("    k-1:", "    k-2: {broker_id: 2}\n    k-1:")
    assert {check for check, _, _ in found(tmp_path, {"hosts.yml": several})} >= {"EOS-CFG-032", "EOS-CFG-036"}


@pytest.mark.parametrize(
    ("connector", "expected"),
    [
        ("smallrye-kafka", {("EOS-CFG-020", "application.yml", 8), ("EOS-CFG-021", "application.yml", 8)}),
        ("smallrye-amqp", set()),
    ],
)
def test_channels_are_read_from_any_file(connector: str, expected: set[tuple[str, str, int]], tmp_path: Path) -> None:
    assert found(tmp_path, {"application.yml": CHANNELS.replace("CONNECTOR", connector)}) == expected


def test_a_channel_without_settings_is_read(tmp_path: Path) -> None:
    path = tmp_path / "application.properties"
    path.write_text("mp.messaging.outgoing.parcels.connector=smallrye-kafka\nquarkus.log.level=INFO\n")
    assert titles(path) == ["producer"]


@pytest.mark.parametrize("name", ["link.config", "link.properties"])
def test_a_cluster_link_is_not_a_consumer(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text("bootstrap.servers=k:1\nconsumer.offset.sync.enable=true\nconsumer.offset.sync.ms=30000\n")
    assert titles(path) == ["cluster link"]


@pytest.mark.parametrize(("word", "expected"), [("smallest", set()), ("first", {("EOS-CFG-088", "t.json", 2)})])
def test_pinot_has_words_of_its_own(word: str, expected: set[tuple[str, str, int]], tmp_path: Path) -> None:
    assert found(tmp_path, {"t.json": PINOT % word}) == expected


DEFAULTS = """$ kafka-configs.sh --bootstrap-server k:1 --describe --entity-type brokers --entity-default
Default configs for brokers in the cluster are:
"""
UNCLEAN = (
    "  unclean.leader.election.enable=true sensitive=false "
    "synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:unclean.leader.election.enable=true}\n"
)
RULES = """Current ACLs for resource `ResourcePattern(resourceType=TRANSACTIONAL_ID, name=NAME, patternType=LITERAL)`:
 \t(principal=User:parcels, host=*, operation=WRITE, permissionType=ALLOW)
"""
CLIENT = """transactional.id=parcels-1
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="parcels" password="${P}";
"""


def linted(folder: Path, files: dict[str, str]) -> tuple[int, set[tuple[str, str, int]]]:
    for name, text in files.items():
        (folder / name).write_text(text)
    result = lint_configuration(LintRequest((folder,)))
    facts = ((one.check_id, dict(one.facts)) for one in result.found)
    return int(result.exit_code), {
        (check, Path(str(fact["file"])).name, int(str(fact["line"]))) for check, fact in facts
    }


def test_printed_defaults_of_brokers_are_judged(tmp_path: Path) -> None:
    assert linted(tmp_path, {"defaults.txt": DEFAULTS + UNCLEAN}) == (3, {("EOS-CFG-037", "defaults.txt", 3)})


def test_printed_defaults_without_a_setting_are_not_an_all_clear(tmp_path: Path) -> None:
    assert linted(tmp_path, {"defaults.txt": DEFAULTS}) == (4, set())


@pytest.mark.parametrize(
    ("name", "expected"), [("parcel", {("EOS-CFG-175", "rules.txt", 1)}), ("parcels-1", set()), ("*", set())]
)
def test_the_user_of_a_login_shows_whose_ids_are_granted(
    name: str, expected: set[tuple[str, str, int]], tmp_path: Path
) -> None:
    files = {"rules.txt": RULES.replace("NAME", name), "producer.properties": CLIENT}
    assert linted(tmp_path, files)[1] == expected
