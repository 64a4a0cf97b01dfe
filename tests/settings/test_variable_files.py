"""Files of settings in variables of containers."""

from __future__ import annotations

import pytest

from eosctl.settings.deployment.deployment_files import read_components
from tests.settings.test_deployment_files import findings

SQL = """CREATE TABLE fares (k STRING) WITH (
  'connector' = 'kafka', 'topic' = 'fares', 'properties.bootstrap.servers' = 'k1:9092',
  'properties.transaction.timeout.ms' = '600000',
  'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'fares', 'format' = 'raw');
"""
COMPOSE = "services:\n  jobmanager:\n    image: flink:1.20\n    environment:\n"
POD = """apiVersion: apps/v1
kind: Deployment
metadata: {name: jobmanager}
spec:
  template:
    spec:
      containers:
        - name: jobmanager
          image: flink:1.20
          env:
            - name: FLINK_PROPERTIES
              value: |
                jobmanager.rpc.address: jobmanager
"""


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (
            "compose.yaml",
            f"{COMPOSE}    - |\n      FLINK_PROPERTIES=\n      a: b\n      execution.checkpointing.interval: %s\n",
        ),
        (
            "compose.yaml",
            f"{COMPOSE}      FLINK_PROPERTIES: |\n        a.b: c\n        execution.checkpointing.interval: %s\n",
        ),
        ("compose.yaml", f'{COMPOSE}      - "FLINK_PROPERTIES=execution.checkpointing.interval: %s"\n'),
        ("pod.yaml", f"{POD}                execution.checkpointing.interval: %s\n"),
        ("flink.env", 'FLINK_PROPERTIES="execution.checkpointing.interval: %s"\n'),
        ("Dockerfile", 'FROM flink:1.20\nENV FLINK_PROPERTIES="execution.checkpointing.interval: %s"\n'),
    ],
)
def test_flinks_interval_stands_in_a_variable(file: str, text: str) -> None:
    for interval, expected in (("20min", ["EOS-CFG-084 job.sql:3"]), ("1min", [])):
        found = findings(("job.sql", SQL), (file, text % interval))
        assert [one for one in found if "CFG-084" in one] == expected


def test_a_variable_may_hold_the_file_of_any_client() -> None:
    text = f"{COMPOSE}      CLIENT_CONFIG: |\n        transactional.id=fares-1\n        acks=1\n"
    (client,) = read_components("compose.yaml", text)
    assert client.value("acks").place is not None
    assert str(client.value("acks").place) == "compose.yaml:7"


def test_a_variable_with_one_line_is_a_value() -> None:
    assert read_components("compose.yaml", f"{COMPOSE}      TEXT: transactional.id=a\n") == []
