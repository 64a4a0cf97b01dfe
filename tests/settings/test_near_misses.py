"""What looks like Kafka's settings in public repositories, and is something else; and the reverse."""

from __future__ import annotations

import pytest

from eosctl.model.deployment import Role
from eosctl.settings.deployment_files import read_components

JMX_RULES = """kind: ConfigMap
apiVersion: v1
metadata: {name: metrics}
data:
  metrics.yml: |
    rules:
      - pattern: kafka.connect<type=task, connector=(.+), task=(.+)><>status
        name: kafka_connect_status
        labels: {clientId: "$1", nodeId: "$2", groupId: "$3"}
"""
PIPELINE = """jobs:
  test:
    env:
      CONNECT_IMAGE_WITH_PLUGIN: ""
      KAFKA_VERSION: latest
"""
WORKER = """services:
  worker:
    image: acme/plugins:1
    environment: {CONNECT_%s}
"""
CONNECTOR = '{"name": "users", "config": {"connector.class": "acme.Datagen", "kafka.topic": "users", "tasks.max": "1"}}'


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("metrics.yaml", JMX_RULES),
        ("tests.yaml", PIPELINE),
        ("compose.yaml", WORKER % "TIMEOUT: 5"),
    ],
)
def test_names_of_others_are_not_settings(file: str, text: str) -> None:
    assert read_components(file, text) == []


@pytest.mark.parametrize("setting", ["GROUP_ID: a", "PRODUCER_ACKS: all"])
def test_a_worker_is_known_by_a_setting(setting: str) -> None:
    roles = {one.role for one in read_components("compose.yaml", WORKER % setting)}
    assert Role.CONNECT_WORKER in roles


@pytest.mark.parametrize("file", ["datagen.config", "datagen.cfg", "datagen.json"])
def test_a_connector_is_read_whatever_its_file_ends_in(file: str) -> None:
    assert [one.role for one in read_components(file, CONNECTOR)] == [Role.SOURCE_CONNECTOR]
