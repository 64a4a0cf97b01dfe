"""Topics that tools declare, and what only resembles one."""

from __future__ import annotations

import pytest

from eosctl.model.deployment import Role
from eosctl.settings.deployment.deployment_files import read_components
from tests.settings.test_deployment_files import only

CLUSTER = """clusters:
  - name: roads
    replicas: 3
    config:
      log.retention.hours: 48
      num.partitions: 6
"""
JULIE = """projects:
  - name: tolls
    topics:
      - name: passages
        config:
          replication.factor: "3"
          log.retention.hours: "48"
"""
BINDING = """spring.kafka.bootstrap-servers=k1:9092
spring.cloud.stream.kafka.bindings.in-in-0.consumer.topic.properties.retention.ms=1000
spring.cloud.stream.kafka.bindings.in-in-0.consumer.configuration.isolation.level=read_committed
spring.cloud.stream.bindings.in-in-0.group=fares
"""


@pytest.mark.parametrize(("text", "role"), [(CLUSTER, Role.BROKER), (JULIE, Role.TOPIC)])
def test_a_list_of_topics_is_not_a_list_of_clusters(text: str, role: Role) -> None:
    assert [one.role for one in read_components("roads.yaml", text)] == [role]


def test_a_binding_gives_its_consumer_no_topic_setting() -> None:
    found = read_components("application.properties", BINDING)
    (consumer,) = (one for one in found if one.role is Role.CONSUMER)
    assert consumer.given.keys() >= {"isolation.level", "group.id"}
    assert "retention.ms" not in consumer.given


def test_settings_of_a_topic_may_be_a_list() -> None:
    text = "topics:\n  - name: a\n    partitions: 3\n    config:\n      - {key: log.retention.hours, value: '48'}\n"
    (topic,) = read_components("topics.yml", text)
    assert (topic.role, topic.given["log.retention.hours"].text) == (Role.TOPIC, "48")


@pytest.mark.parametrize(
    "entries",
    ['"configEntries": [{"name": "min.insync.replicas", "value": "1"}]', '"configs": ["min.insync.replicas=1"]'],
)
def test_entries_of_an_admin_client_are_the_settings_of_a_topic(entries: str) -> None:
    text = f'{{"topics": [{{"topic": "orders", "numPartitions": 6, "replicationFactor": 3,\n{entries}}}]}}'
    assert only("topics.json", text, Role.TOPIC).number("min.insync.replicas") == 1
