"""`sandbox serve`: the container's entry point, run as a process with the variables of the image apache/kafka."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic

from eosctl.errors import UsageError
from eosctl.sandbox.process.image_variables import ImagePlan, plan_image, setting_name
from eosctl.sandbox.process.spec import SandboxSpec
from eosctl.services.serve_image import MountedConfig, read_mounted
from tests.free_port import free_port

ROOT = Path(__file__).parents[2]
CLUSTER = "4L6g3nShT-eMCtK--X86sw"
LONG_S = 30
#: What the modules of Testcontainers set for apache/kafka, apart from addresses.
TESTCONTAINERS = {
    "CLUSTER_ID": CLUSTER,
    "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "BROKER:PLAINTEXT,PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "KAFKA_INTER_BROKER_LISTENER_NAME": "BROKER",
    "KAFKA_PROCESS_ROLES": "broker,controller",
    "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
    "KAFKA_NODE_ID": "1",
    "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@localhost:9094",
    "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR": "1",
    "KAFKA_OFFSETS_TOPIC_NUM_PARTITIONS": "1",
    "KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR": "1",
    "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR": "1",
    "KAFKA_LOG_FLUSH_INTERVAL_MESSAGES": "9223372036854775807",
    "KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS": "0",
}


@contextmanager
def served(tmp_path: Path, variables: Mapping[str, str], *words: str) -> Iterator[subprocess.Popen[str]]:
    """Run the entry point until the block ends; its output is the log of the server."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KAFKA_")}
    command = words or (sys.executable, "-m", "eosctl", "sandbox", "serve", "--data-dir", str(tmp_path / "data"))
    environment |= {"XDG_STATE_HOME": str(tmp_path), **variables}
    with (
        (tmp_path / "err").open("w") as err,
        subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=err, text=True) as process,
    ):
        try:
            yield process
        finally:
            process.terminate()
            process.communicate()


def wait_for(process: subprocess.Popen[str], pattern: str) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if re.search(pattern, line):
            return line
    raise AssertionError(f"the process ended without {pattern}")


def test_a_module_of_testcontainers_finds_the_image_it_expects(tmp_path: Path) -> None:
    outside, inside, mapped = free_port(), free_port(), free_port()
    variables = TESTCONTAINERS | {
        "KAFKA_LISTENERS": f"PLAINTEXT://127.0.0.1:{outside},BROKER://127.0.0.2:{inside},CONTROLLER://0.0.0.0:9094",
        "KAFKA_ADVERTISED_LISTENERS": f"PLAINTEXT://localhost:{mapped},BROKER://127.0.0.2:{inside}",
        "KAFKA_AUTO_CREATE_TOPICS_ENABLE": "false",
        "KAFKA_HEAP_OPTS": "-Xmx1g",
        "KAFKA_NO_SUCH_SETTING": "1",
    }
    with served(tmp_path, variables) as process:
        wait_for(process, "Transitioning from RECOVERY to RUNNING")  # What Testcontainers waits for.
        wait_for(process, r"Kafka Server started")
        admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{outside}"})
        (broker,) = admin.list_topics(timeout=LONG_S).brokers.values()
        assert (broker.host, broker.port) == ("localhost", mapped)
        near = AdminClient({"bootstrap.servers": f"127.0.0.2:{inside}"})
        assert near.describe_cluster().result(LONG_S).cluster_id == CLUSTER
        (settings,) = (one.result(LONG_S) for one in near.describe_configs([ConfigResource("broker", "1")]).values())
        assert settings["auto.create.topics.enable"].value == "false"
        assert settings["inter.broker.listener.name"].value == "BROKER"
        (made,) = near.create_topics([NewTopic("orders", 1, 1)]).values()
        made.result(LONG_S)
        producer = Producer({"bootstrap.servers": f"127.0.0.2:{inside}", "transactional.id": "app"})
        producer.init_transactions(LONG_S)
        producer.begin_transaction()
        producer.produce("orders", b"paid")
        producer.commit_transaction(LONG_S)
        reader = Consumer(
            {"bootstrap.servers": f"127.0.0.2:{inside}", "group.id": "g", "auto.offset.reset": "earliest"}
        )
        reader.subscribe(["orders"])
        record = reader.poll(LONG_S)
        assert record is not None and record.value() == b"paid"
        reader.close()
        process.terminate()
        process.communicate(timeout=LONG_S)
        assert process.returncode == 0
    remarks = (tmp_path / "err").read_text()
    assert "KAFKA_HEAP_OPTS has no effect: the sandbox has no JVM." in remarks
    assert "KAFKA_NO_SUCH_SETTING has no effect: Kafka 4.4 has no broker setting no.such.setting." in remarks
    assert "KAFKA_CONTROLLER_QUORUM_VOTERS has no effect" in remarks


def test_the_image_starts_the_entry_point(tmp_path: Path) -> None:
    text = (ROOT / "Containerfile").read_text("utf-8")
    (script,) = re.findall(r"printf '(.*)' >/opt/run ", text)
    assert "COPY --from=build /opt/run /etc/kafka/docker/run" in text
    run = tmp_path / "run"
    run.write_text(script.replace("\\n", "\n"))
    run.chmod(0o755)
    program = tmp_path / "bin" / "eosctl"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m eosctl "$@"\n')
    program.chmod(0o755)
    port = free_port()
    variables = {
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "KAFKA_LISTENERS": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://:9093",
    }
    assert shutil.which("sh") is not None
    with served(tmp_path, variables, str(run)) as process:
        wait_for(process, "Kafka Server started")
        assert AdminClient({"bootstrap.servers": f"127.0.0.1:{port}"}).list_topics(timeout=LONG_S).brokers
    with pytest.raises(KafkaException):
        AdminClient({"bootstrap.servers": f"127.0.0.1:{port}"}).list_topics(timeout=0.1)


def planned(**variables: str) -> ImagePlan:
    return plan_image(variables, SandboxSpec("kafka", "/data"))


def test_variables_name_settings_as_in_the_image() -> None:
    names = ["KAFKA_NUM_PARTITIONS", "KAFKA_A__B___C", "KAFKA_LOG_CLEANER_BACKOFF_MS"]
    assert list(map(setting_name, names)) == ["num.partitions", "a_b-c", "log.cleaner.backoff.ms"]
    plan = planned(KAFKA_NUM_PARTITIONS="3", PATH="/bin", CLUSTER_ID=CLUSTER)
    assert plan.spec.settings == (("num.partitions", "3"),)
    assert (plan.spec.cluster_id, plan.remarks) == (CLUSTER, ())


def test_without_variables_clients_connect_to_localhost() -> None:
    spec = planned().spec
    assert (spec.listen, spec.advertise) == (("PLAINTEXT://0.0.0.0:9092",), ("PLAINTEXT://localhost:9092",))


def test_listeners_advertise_the_machines_name_by_default() -> None:
    spec = planned(KAFKA_LISTENERS="PLAINTEXT://:9092,NEAR://localhost:9093,CONTROLLER://:9094").spec
    assert spec.listen == ("PLAINTEXT://0.0.0.0:9092", "NEAR://127.0.0.1:9093")
    assert spec.advertise == (f"PLAINTEXT://{socket.gethostname()}",)


def test_listeners_that_are_only_advertised_are_bound() -> None:
    spec = planned(KAFKA_ADVERTISED_LISTENERS="OUT://localhost:19092,IN://kafka:29092").spec
    assert spec.listen == ("OUT://0.0.0.0:19092", "IN://0.0.0.0:29092")
    assert spec.advertise == ("OUT://localhost:19092", "IN://kafka:29092")


def test_variables_override_a_mounted_file(tmp_path: Path) -> None:
    (tmp_path / "server.properties").write_text("num.partitions=3\nlog.dirs=/a\nauto.create.topics.enable=false\nx=1\n")
    (tmp_path / "log4j2.yaml").write_text("")
    mounted = read_mounted(tmp_path)
    assert mounted.remarks == (f"{tmp_path / 'log4j2.yaml'} has no effect: only server.properties is read.",)
    plan = plan_image({"KAFKA_NUM_PARTITIONS": "7"}, SandboxSpec("kafka", "/data"), mounted.properties)
    assert dict(plan.spec.settings) == {"num.partitions": "7", "auto.create.topics.enable": "false"}
    assert plan.remarks == (
        "x of server.properties has no effect: Kafka 4.4 has no broker setting x.",
        "log.dirs of server.properties decides only how many log directories: files are in --data-dir.",
    )
    assert read_mounted(tmp_path / "missing") == MountedConfig({}, ())


@pytest.mark.parametrize(
    ("name", "value", "remark"),
    [
        ("KAFKA_NODE_ID", "7", "KAFKA_NODE_ID=7 has no effect: the node is 1."),
        ("KAFKA_LOG_DIRS", "/a,/b", "KAFKA_LOG_DIRS decides only how many log directories: files are in --data-dir."),
        ("KAFKA_JMX_PORT", "9999", "KAFKA_JMX_PORT has no effect: the sandbox has no JVM."),
        ("KAFKA_TYPO", "1", "KAFKA_TYPO has no effect: Kafka 4.4 has no broker setting typo."),
    ],
)
def test_variables_without_an_effect_are_named(name: str, value: str, remark: str) -> None:
    assert planned(**{name: value}).remarks == (remark,)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("KAFKA_PROCESS_ROLES", "broker", "The only node is broker and controller"),
        ("KAFKA_ZOOKEEPER_CONNECT", "zk:2181", "keeps its metadata in KRaft"),
        ("KAFKA_CONTROLLER_QUORUM_VOTERS", "1@a:1,2@b:1", "is the only voter"),
        ("KAFKA_SASL_ENABLED_MECHANISMS", "PLAIN", "speak plaintext only"),
        ("KAFKA_LISTENER_SECURITY_PROTOCOL_MAP", "PLAINTEXT:SASL_PLAINTEXT", "listener PLAINTEXT speaks plaintext"),
        ("KAFKA_LISTENERS", "SSL://:9092", "listener SSL speaks plaintext"),
        ("KAFKA_LISTENERS", "9092", "is not a listener"),
        ("KAFKA_LISTENERS", "PLAINTEXT://no-such-host.invalid:9092", "has no address"),
    ],
)
def test_what_one_plaintext_node_cannot_be_is_refused(name: str, value: str, reason: str) -> None:
    with pytest.raises(UsageError) as refused:
        planned(**{name: value})
    assert reason in f"{refused.value.what} {refused.value.why}"


def test_an_advertised_listener_must_be_bound() -> None:
    with pytest.raises(UsageError, match="KAFKA_ADVERTISED_LISTENERS") as refused:
        planned(KAFKA_LISTENERS="PLAINTEXT://:9092", KAFKA_ADVERTISED_LISTENERS="OUT://localhost:9092")
    assert "lacks the listener OUT" in refused.value.why
