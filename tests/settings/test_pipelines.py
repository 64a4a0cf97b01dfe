"""Producers and consumers inside tools that move data, by each tool's own format and names."""

from __future__ import annotations

import pytest

from eosctl.checks.judge import judge
from eosctl.errors import ConfigFileError
from eosctl.findings.linted import findings_of
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Client, Deployment, Role
from eosctl.settings.deployment.deployment_files import read_components
from eosctl.settings.formats.logstash_file import parse_logstash
from tests.settings.test_deployment_files import findings, only

LOGSTASH = """input {
  kafka { topics => ["a", "b"] group_id => "x" isolation_level => "read_committed" }
}
filter {
  if [type] == "x" and "}" in [tags] {
    mutate { add_field => { "a" => "b" } }  # } comment
  } else { drop {} }
}
output {
  if "x" in [tags] {
    kafka {
      bootstrap_servers => "k:9092"
      topic_id => 'out'
      acks => "%s"
    }
  }
}
"""
FLUENT_BIT = """[SERVICE]
    Flush 1
[OUTPUT]
    Name    kafka
    Brokers k:9092
    rdkafka.enable.idempotence true
    rdkafka.acks %s
"""
FLUENT_BIT_YAML = """pipeline:
  outputs:
    - name: kafka
      brokers: k:9092
      rdkafka.enable.idempotence: true
      rdkafka.acks: %s
"""
VECTOR = """[sinks.out]
type = "kafka"
bootstrap_servers = "k:9092"
[sinks.out.librdkafka_options]
"enable.idempotence" = "true"
"acks" = "%s"
"""
TELEGRAF = """[agent]
  interval = "10s"
[[inputs.cpu]]
[[outputs.kafka]]
  brokers = ["k:9092"]
  required_acks = %s
  idempotent_writes = true
"""
COLLECTOR = """receivers:
  kafka/logs:
    brokers: [k:9092]
    session_timeout: 10s
    heartbeat_interval: %s
exporters:
  kafka:
    producer: {required_acks: -1}
service:
  pipelines:
    logs: {receivers: [kafka/logs], exporters: [kafka]}
"""
COLLECTOR_RESOURCE = """apiVersion: opentelemetry.io/v1beta1
kind: OpenTelemetryCollector
metadata: {name: edge}
spec:
  replicas: %s
  config:
    receivers:
      kafka:
        group_instance_id: edge
"""
FLINK_CDC = """source:
  type: mysql
  tables: shop.*
sink:
  type: kafka
  properties.bootstrap.servers: k:9092
  properties.enable.idempotence: true
  properties.acks: %s
pipeline:
  name: shop
"""
NAMES_AND_VALUES = """librdkafka:
  - name: enable.idempotence
    value: true
  - name: acks
    value: %s
    description: how many
"""
ONE_PER_MAPPING = """kafka:
  librdkafka_options:
    - enable.idempotence: true
    - acks: %s
"""
PAIRS = """{"librdkafka": [
  ["enable.idempotence", "true"],
  ["acks", "%s"]
]}
"""
TWO_OUTPUTS = """[[outputs.kafka]]
  brokers = ["k:9092"]
  idempotent_writes = true
  required_acks = %s
  [outputs.kafka.tagpass]
    a = ["x"]
[[outputs.kafka]]
  brokers = ["k:9092"]
  required_acks = -1
"""
SARAMA = """kafka:
  producer:
    idempotent: true
    max_open_requests: 1
    transaction: {id: a}
  consumer:
    group: a
    auto_commit: false
    isolation_level: ReadUncommitted
"""
IDEMPOTENT = "kafka:\n  producer:\n    idempotent: true\n"
REDPANDA_CONNECT = """output:
  broker:
    outputs:
      - kafka:
          addresses: [k:9092]
          ack_replicas: true
          %s: true
"""
REDPANDA_OUTPUT = """output:
  redpanda:
    seed_brokers: [k:9092]
    acks: %s
"""


@pytest.mark.parametrize(
    ("file", "text", "wrong", "right", "found"),
    [
        ("fluent-bit.conf", FLUENT_BIT, "1", "all", "EOS-CFG-070 fluent-bit.conf:7"),
        ("fluent-bit.yaml", FLUENT_BIT_YAML, "1", "all", "EOS-CFG-070 fluent-bit.yaml:6"),
        ("vector.toml", VECTOR, "1", "all", "EOS-CFG-070 vector.toml:6"),
        ("telegraf.conf", TELEGRAF, "1", "-1", "EOS-CFG-011 telegraf.conf:6"),
        ("pipeline.yaml", REDPANDA_CONNECT, "idempotent_write", "retry_as_batch", "EOS-CFG-013 pipeline.yaml:7"),
        ("pipeline.yaml", REDPANDA_OUTPUT, "leader", "all", "EOS-CFG-011 pipeline.yaml:4"),
        ("pipeline.yaml", REDPANDA_OUTPUT, "none", "all", "EOS-CFG-011 pipeline.yaml:4"),
        ("logstash.conf", LOGSTASH, "2", "all", "EOS-CFG-088 logstash.conf:14"),
        ("collector.yaml", COLLECTOR, "12s", "3s", "EOS-CFG-024 collector.yaml:5"),
        ("edge.yaml", COLLECTOR_RESOURCE, "3", "1", "EOS-CFG-148 edge.yaml:9"),
        ("pipeline.yaml", FLINK_CDC, "1", "all", "EOS-CFG-011 pipeline.yaml:8"),
        ("kafka.yaml", NAMES_AND_VALUES, "1", "all", "EOS-CFG-070 kafka.yaml:4"),
        ("kafka.yaml", ONE_PER_MAPPING, "1", "all", "EOS-CFG-070 kafka.yaml:4"),
        ("kafka.json", PAIRS, "1", "all", "EOS-CFG-070 kafka.json:3"),
        ("telegraf.conf", TWO_OUTPUTS, "1", "-1", "EOS-CFG-011 telegraf.conf:4"),
    ],
)
def test_a_mistake_is_found_at_its_line(file: str, text: str, wrong: str, right: str, found: str) -> None:
    assert findings((file, text % wrong)) == [found]
    assert findings((file, text % right)) == []


def test_a_pipeline_has_both_clients() -> None:
    parts = read_components("logstash.conf", LOGSTASH % "all")
    assert [(part.role, part.client) for part in parts] == [
        (Role.PRODUCER, Client.JAVA),
        (Role.CONSUMER, Client.JAVA),
    ]
    assert parts[0].word("topic") == "out"
    assert parts[1].word("topics") == "a,b"


def test_a_collector_has_its_own_defaults_and_topics() -> None:
    producer = only("collector.yaml", COLLECTOR % "3s", Role.PRODUCER)
    assert (producer.word("acks"), producer.word("topics")) == ("all", "otlp_logs,otlp_metrics,otlp_spans")
    consumer = only("a.yaml", "receivers:\n  kafka:\n    logs: {topic: a}\n    traces: {topic: b}\n", Role.CONSUMER)
    assert (consumer.word("topics"), consumer.number("session.timeout.ms")) == ("a,b", 10_000)
    assert read_components("a.yaml", "receivers:\n  kafkametrics: {brokers: [k:9092]}\n") == []


def test_flink_cdc_has_no_option_for_a_prefix() -> None:
    text = FLINK_CDC.replace("  properties.acks", "  sink.delivery-guarantee: exactly-once\n  properties.acks") % "all"
    deployment = Deployment(tuple(read_components("pipeline.yaml", text)), load_tables())
    (found,) = (one for one in findings_of(judge(deployment)) if one.check_id == "EOS-CFG-098")
    assert found.remedy[0].startswith("Remove sink.delivery-guarantee")


def test_a_client_has_its_librarys_defaults() -> None:
    producer = only("fluent-bit.conf", FLUENT_BIT % "all", Role.PRODUCER)
    assert producer.client is Client.LIBRDKAFKA
    sarama = only("telegraf.conf", "[[outputs.kafka]]\n  brokers = ['k:9092']\n", Role.PRODUCER)
    assert (sarama.flag("enable.idempotence"), sarama.word("acks")) == (False, "all")


@pytest.mark.parametrize("text", ["input { kafka { a => 'b }", 'output { kafka { a => "b" }', "input { } }"])
def test_a_broken_pipeline_is_an_error_with_its_line(text: str) -> None:
    with pytest.raises(ConfigFileError, match=r"^a\.conf:1: "):
        read_components("a.conf", text + " # =>")


def test_deep_pipelines_end_in_an_error() -> None:
    with pytest.raises(ConfigFileError, match="nested too deeply"):
        read_components("a.conf", "input {" + "a => {" * 500)


def test_values_of_other_plugins_stay_out() -> None:
    tree = parse_logstash("output { elasticsearch { hosts => ['a'] } stdout {} }")
    assert tree.items("output", "elasticsearch", "hosts") != ()
    assert read_components("a.conf", "output { elasticsearch { acks => 1 } } # =>") == []


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        (
            "sarama.yaml",
            "kafka:\n  producer:\n    idempotent: true\n    requiredAcks: WaitForLocal\n",
            "EOS-CFG-011 sarama.yaml:4",
        ),
        (
            "sarama.yaml",
            "kafka:\n  producer:\n    idempotent: true\n    required_acks: wait_for_local\n",
            "EOS-CFG-011 sarama.yaml:4",
        ),
        (
            "kafka.yaml",
            SARAMA,
            "EOS-CFG-020 kafka.yaml:9",
        ),
        (
            "writer.yaml",
            "kafka:\n  producer:\n    idempotent: true\n    RequiredAcks: RequireOne\n",
            "EOS-CFG-011 writer.yaml:4",
        ),
        (
            "kafka.json",
            '{"producer": {"transactionalId": "x", "idempotent": true,\n "maxInFlightRequests": 9}}',
            "EOS-CFG-013 kafka.json:2",
        ),
    ],
)
def test_names_of_libraries_are_understood(file: str, text: str, found: str) -> None:
    assert found in findings((file, text))


def test_readers_of_kafkajs_say_whether_they_read_uncommitted() -> None:
    text = '{"kafka": {"consumer": {"groupId": "g", "readUncommitted": %s}}}'
    assert only("kafka.json", text % "true", Role.CONSUMER).word("isolation.level") == "read_uncommitted"
    assert only("kafka.json", text % "false", Role.CONSUMER).word("isolation.level") == "read_committed"


def test_resources_of_redpanda_connect_are_its_clients() -> None:
    text = "output_resources:\n- label: out\n  kafka:\n    addresses: [k:9092]\n    topic: a\n    ack_replicas: false\n"
    assert only("resources.yaml", text, Role.PRODUCER).word("acks") == "1"


def test_one_setting_of_another_tool_is_not_a_topic() -> None:
    text = 'target {\n  use "http" {\n    batching {\n      max_message_bytes = 10\n      linger = 1\n    }\n  }\n}\n'
    assert read_components("http.hcl", text) == []


@pytest.mark.parametrize(
    "text", ['{"queue": {"acks": "late"}}', '{"acks": 1, "retries": 3}', '{"job": {"idempotent": true, "acks": 1}}']
)
def test_common_words_are_not_a_producer(text: str) -> None:
    assert read_components("app.json", text) == []


def test_json_may_have_comments_and_commas_at_the_end() -> None:
    text = '{ // a producer\n /* of\n ours */ "transactional.id": "a//b",\n "acks": "1", }'
    assert findings(("producer.json", text)) == ["EOS-CFG-011 producer.json:4"]
    assert findings(("producer.json5", "{transactional.id: 'a', acks: 1}"))[0].startswith("EOS-CFG-011")
