"""Flink's sinks and checkpoints under an application's own keys, and in files of their own."""

from __future__ import annotations

import pytest

from eosctl.model.deployment import Role
from eosctl.settings.deployment.deployment_files import read_components
from tests.settings.test_deployment_files import findings

JOB = """flink:
  checkpoint: {interval: %s, mode: EXACTLY_ONCE}
sinks:
  orders:
    type: kafka
    topic: orders-out
    delivery-guarantee: EXACTLY_ONCE
    transactional-id-prefix: orders
    properties:
      transaction.timeout.ms: 300000
"""
CAMEL = """job:
  checkpointIntervalSeconds: %s
  kafka:
    sink:
      deliveryGuarantee: exactly-once
      transactionalIdPrefix: dedupe
      transactionTimeout: 5min
"""
JSON = """{"checkpointing": {"interval_ms": %s},
 "sink": {"bootstrap_servers": "k:9092", "delivery_guarantee": "exactly_once", "transactional_id_prefix": "a",
  "producer": {"transaction.timeout.ms": "300000"}}}
"""
CONF = """flink.checkpointing.interval = %s
sink.kafka {
  deliveryGuarantee = exactly-once
  transactionalIdPrefix = a
  properties { transaction.timeout.ms = 300000 }
}
"""
PROPERTIES = """job.checkpoint.interval.ms=%s
source.topic=in
source.group.id=dedupe
source.isolation.level=%s
sink.topic=out
sink.delivery.guarantee=EXACTLY_ONCE
sink.transactional.id.prefix=dedupe
sink.transaction.timeout.ms=300000
"""
SINK = """sinks:
  out: {topic: out, delivery-guarantee: exactly-once, transactional-id-prefix: out, transaction.timeout.ms: 300000}
"""
DEPLOYMENT = """apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {name: job}
spec:
  image: flink:1.20
  flinkConfiguration:
    execution.checkpointing.interval: %s
    state.backend.type: rocksdb
"""
CHECKPOINTS = {
    "flink-conf.yaml": "execution.checkpointing.interval: %s\nparallelism.default: 2\n",
    "config.yaml": "execution:\n  checkpointing:\n    interval: %s\nparallelism:\n  default: 2\n",
    "job.yaml": DEPLOYMENT,
    "init.sql": "SET 'execution.checkpointing.interval' = '%s';\n",
}


@pytest.mark.parametrize(
    ("file", "text", "long", "short", "expected"),
    [
        ("job.yaml", JOB, "15min", "10000", "EOS-CFG-084 job.yaml:10"),
        ("application.yml", CAMEL, "900", "60", "EOS-CFG-084 application.yml:7"),
        ("job.json", JSON, "900000", "10000", "EOS-CFG-084 job.json:3"),
        ("job.conf", CONF, "15m", "10s", "EOS-CFG-084 job.conf:5"),
    ],
)
def test_the_interval_is_compared_in_a_file_of_its_own(
    file: str, text: str, long: str, short: str, expected: str
) -> None:
    assert [found for found in findings((file, text % long)) if "CFG-084" in found] == [expected]
    assert findings((file, text % short)) == []


@pytest.mark.parametrize("file", CHECKPOINTS)
def test_the_interval_of_the_cluster_is_compared(file: str) -> None:
    long, short = ((file, CHECKPOINTS[file] % interval) for interval in ("900s", "10s"))
    assert "EOS-CFG-084 sinks.yaml:2" in findings(long, ("sinks.yaml", SINK))
    assert findings(short, ("sinks.yaml", SINK)) == []


def test_a_prefix_without_guarantee_is_found_under_an_own_key() -> None:
    text = "out:\n  kafka:\n    topic: a\n    transactionalIdPrefix: a\n"
    assert findings(("job.yaml", text)) == ["EOS-CFG-155 job.yaml:4"]


def test_a_prefix_alone_is_not_a_sink_without_words_of_flink() -> None:
    text = "replicaCount: 3\nkafka:\n  bootstrapServers: kafka:9092\n  transactionalIdPrefix: writer\n"
    assert Role.FLINK not in {one.role for one in read_components("values.yaml", text)}
    assert Role.FLINK in {one.role for one in read_components("values.yaml", f"flink: {{parallelism: 2}}\n{text}")}


def test_a_source_of_a_job_commits_with_checkpoints() -> None:
    source = "sources:\n  in: {topic: in, group.id: dedupe, isolation.level: %s}\n"
    assert findings(("job.yaml", SINK + source % "read_committed")) == []
    assert findings(("job.yaml", SINK + source % "read_uncommitted")) == ["EOS-CFG-020 job.yaml:4"]


def test_delivery_guarantees_of_other_systems_are_not_flink() -> None:
    assert list(read_components("queue.yaml", "queue:\n  name: a\n  deliveryGuarantee: at-least-once\n")) == []


def test_vector_keeps_its_sinks() -> None:
    text = "sinks:\n  out: {type: kafka, inputs: [a], bootstrap_servers: 'k:9092', topic: a}\n"
    assert [one.role for one in read_components("vector.yaml", text)] == [Role.PRODUCER]


def in_config_map(name: str, text: str) -> str:
    block = "".join(f"    {line}\n" for line in text.splitlines())
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: job}}\ndata:\n  {name}: |\n{block}"


def test_a_sink_of_flat_keys_is_compared_with_its_checkpoints() -> None:
    late, early = (PROPERTIES % (interval, "read_committed") for interval in (900_000, 10_000))
    assert findings(("job.properties", late)) == ["EOS-CFG-084 job.properties:8"]
    assert findings(("job.properties", early)) == []
    assert findings(("map.yaml", in_config_map("job.properties", late))) == ["EOS-CFG-084 map.yaml:13"]
    assert findings(("map.yaml", in_config_map("job.properties", early))) == []


def test_a_source_of_flat_keys_is_not_a_part_of_the_sink() -> None:
    text = PROPERTIES % (10_000, "read_uncommitted")
    assert findings(("job.properties", text)) == ["EOS-CFG-020 job.properties:4"]
    read = [one for one in read_components("job.properties", text) if one.role is Role.PRODUCER]
    assert [one.value("transaction.timeout.ms").key for one in read] == ["sink.transaction.timeout.ms"]


def test_flat_keys_of_another_sink_are_not_flink() -> None:
    text = "pulsar.sink.delivery.guarantee=exactly-once\npulsar.sink.topic=a\n"
    assert list(read_components("job.properties", text)) == []


def test_a_deployment_of_the_operator_is_a_cluster() -> None:
    text = DEPLOYMENT.replace("    execution.checkpointing.interval: %s\n", "")
    assert [one.role for one in read_components("job.yaml", text)] == [Role.FLINK]
    assert read_components("job.yaml", text.replace("FlinkDeployment", "FlinkStateSnapshot")) == []
    (known,) = read_components("job.yaml", DEPLOYMENT % "10s")
    assert known.value("execution.checkpointing.interval").word == "10s"
