"""The line of a finding about what is not written down: that of a setting like it, and never a neighbor's."""

from __future__ import annotations

import pytest

from tests.settings.test_deployment_files import findings

COMPOSE = """\
services:
  kafka:
    image: apache/kafka:3.9.0
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:29093
      KAFKA_LISTENERS: PLAINTEXT://kafka:29092,CONTROLLER://kafka:29093
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
"""
VIPER = """\
server: {port: 8080}
kafka:
  producer:
    transactional.id: orders-1
  consumer:
    group.id: orders
    enable.auto.commit: false
"""
SPRING = """\
spring.kafka.bootstrap-servers: k:9092
spring.kafka.producer.transaction-id-prefix: orders-
spring.kafka.consumer.group-id: orders
spring.kafka.consumer.auto-offset-reset: earliest
"""
NET = """\
{"Kafka": {
  "Producer": {"BootstrapServers": "k:9092", "TransactionalId": "a-1"},
  "Consumer": {
    "GroupId": "a",
    "AutoCommitIntervalMs": 1000
  }
}}
"""


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        ("docker-compose.yml", COMPOSE, "EOS-CFG-149 docker-compose.yml:9"),
        ("config.yaml", VIPER, "EOS-CFG-020 config.yaml:6"),
        ("application.yml", SPRING, "EOS-CFG-020 application.yml:3"),
        ("appsettings.json", NET, "EOS-CFG-021 appsettings.json:5"),
    ],
)
def test_what_is_missing_stands_at_its_own_component(file: str, text: str, found: str) -> None:
    assert found in findings((file, text))
