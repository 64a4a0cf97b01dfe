"""Producers and consumers inside tools that move data, by each tool's own format and names."""

from __future__ import annotations

import pytest

from eosctl.errors import ConfigFileError
from eosctl.model.deployment import Client, Role
from eosctl.settings.deployment_files import read_components
from eosctl.settings.logstash_file import parse_logstash
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
IDEMPOTENT = "kafka:\n  producer:\n    idempotent: true\n"
REDPANDA_CONNECT = """output:
  broker:
    outputs:
      - kafka:
          addresses: [k:9092]
          idempotent_write: true
          ack_replicas: %s
"""


@pytest.mark.parametrize(
    ("file", "text", "wrong", "right", "found"),
    [
        ("fluent-bit.conf", FLUENT_BIT, "1", "all", "EOS-CFG-070 fluent-bit.conf:7"),
        ("fluent-bit.yaml", FLUENT_BIT_YAML, "1", "all", "EOS-CFG-070 fluent-bit.yaml:6"),
        ("vector.toml", VECTOR, "1", "all", "EOS-CFG-070 vector.toml:6"),
        ("telegraf.conf", TELEGRAF, "1", "-1", "EOS-CFG-011 telegraf.conf:6"),
        ("pipeline.yaml", REDPANDA_CONNECT, "false", "true", "EOS-CFG-011 pipeline.yaml:7"),
        ("logstash.conf", LOGSTASH, "2", "all", "EOS-CFG-088 logstash.conf:14"),
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


@pytest.mark.parametrize(
    "text", ['{"queue": {"acks": "late"}}', '{"acks": 1, "retries": 3}', '{"job": {"idempotent": true, "acks": 1}}']
)
def test_common_words_are_not_a_producer(text: str) -> None:
    assert read_components("app.json", text) == []


def test_json_may_have_comments_and_commas_at_the_end() -> None:
    text = '{ // a producer\n /* of\n ours */ "transactional.id": "a//b",\n "acks": "1", }'
    assert findings(("producer.json", text)) == ["EOS-CFG-011 producer.json:4"]
    assert findings(("producer.json5", "{transactional.id: 'a', acks: 1}"))[0].startswith("EOS-CFG-011")
