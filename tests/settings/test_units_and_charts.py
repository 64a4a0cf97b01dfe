"""Units of systemd with their files, and values of charts at their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.settings.test_process_managers import lint

UNIT = "[Service]\nEnvironmentFile=/etc/pay/common.env\nEnvironmentFile=/etc/pay/shard-%i.env\nExecStart=/opt/pay/run\n"


@pytest.mark.parametrize(
    ("shards", "expected"),
    [
        ({"a": "PORT=1", "b": "PORT=2"}, ["all 2 processes"]),
        ({"a": "PORT=1"}, ["all instances of the unit"]),
        ({"a": "PORT=1", "b": "KAFKA_TRANSACTIONAL_ID=pay-b"}, []),
        ({}, []),
    ],
)
def test_files_of_instances_may_hold_what_differs(shards: dict[str, str], expected: list[str], tmp_path: Path) -> None:
    files = {f"etc/shard-{name}.env": f"{text}\n" for name, text in shards.items()}
    common = "KAFKA_BOOTSTRAP_SERVERS=k:1\nKAFKA_TRANSACTIONAL_ID=pay\n"
    result = lint(tmp_path, {"systemd/pay@.service": UNIT, "etc/common.env": common, **files})
    found = [one for one in result.found if one.check_id == "EOS-CFG-147"]
    assert [one.message.partition("is the id of ")[2].rstrip(".") for one in found] == expected


def test_a_unit_is_one_application_with_its_files(tmp_path: Path) -> None:
    unit = "[Service]\nEnvironmentFile=-/etc/default/pay\nEnvironment=KAFKA_TRANSACTIONAL_ID=pay\nExecStart=/opt/pay\n"
    files = {
        "units/pay.service": unit,
        "files/pay": "",
        "etc/default/pay": "KAFKA_ACKS=1\nKAFKA_BOOTSTRAP_SERVERS=k:1\n",
    }
    found = lint(tmp_path, files).found
    assert [(one.check_id, dict(one.facts)["line"]) for one in found] == [("EOS-CFG-011", 1)]


CHART = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: pay}
spec:
  replicas: {{ .Values.replicaCount }}
  template:
    spec:
      containers:
        - name: pay
          env:
            - name: KAFKA_TRANSACTIONAL_ID
              value: {{ .Values.kafka.id | default "pay" | quote }}
            - name: KAFKA_TRANSACTION_TIMEOUT_MS
              value: "{{ .Values.kafka.timeout | int64 }}"
"""


@pytest.mark.parametrize(("count", "expected"), [("3", [("EOS-CFG-147", "values.yaml", 3)]), ("1", [])])
def test_a_value_of_a_chart_stands_in_its_file(
    count: str, expected: list[tuple[str, str, int]], tmp_path: Path
) -> None:
    values = f"replicaCount: {count}\nkafka:\n  id: pay\n  timeout: 60000\n"
    files = {"Chart.yaml": "name: pay\n", "values.yaml": values, "templates/deployment.yaml": CHART}
    facts = [(one.check_id, dict(one.facts)) for one in lint(tmp_path, files).found]
    assert [(name, str(own["file"]).rpartition("/")[2], own["line"]) for name, own in facts] == expected


BITNAMI = """controller: {{replicaCount: {controllers}}}
broker: {{replicaCount: {brokers}}}
extraConfig: |
  offsets.topic.replication.factor=1
  transaction.state.log.replication.factor=1
  transaction.state.log.min.isr=1
"""


@pytest.mark.parametrize(("controllers", "brokers", "is_right"), [(1, 0, True), (1, 2, False), (3, 0, False)])
def test_one_broker_of_a_chart_needs_one_copy(controllers: int, brokers: int, is_right: bool, tmp_path: Path) -> None:
    text = BITNAMI.format(controllers=controllers, brokers=brokers)
    assert (not lint(tmp_path, {"values.yaml": text}).found) is is_right


APPLICATION = """\
kind: ConfigMap
metadata: {name: pay}
data:
  application.yaml: |
    spring:
      application: {name: pay}
      kafka:
        bootstrap-servers: k:1
        producer:
          transaction-id-prefix: ${spring.application.name}-
          acks: {{ .Values.acks | quote }}
"""
STARTED = """\
kind: Deployment
metadata: {name: pay}
spec:
  replicas: {{ .Values.replicaCount }}
  selector: {}
  template:
    spec:
      containers: [{name: pay, image: "o/pay:1", envFrom: [{configMapRef: {name: pay}}]}]
"""


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ({}, set()),
        ({"values-prod.yaml": "replicaCount: 3\n"}, {("EOS-CFG-072", "configmap.yaml", 10)}),
        ({"values.prod.yaml": "acks: 1\n"}, {("EOS-CFG-011", "values.prod.yaml", 1)}),
        ({"values-dev.yaml": "replicaCount: 1\nacks: all\n"}, set()),
    ],
)
def test_a_template_has_the_values_of_each_environment(
    others: dict[str, str], expected: set[tuple[str, str, int]], tmp_path: Path
) -> None:
    files = {
        "Chart.yaml": "name: pay\n",
        "values.yaml": "replicaCount: 1\nacks: all\n",
        "templates/configmap.yaml": APPLICATION,
        "templates/deployment.yaml": STARTED,
        **others,
    }
    found = lint(tmp_path, files).found
    facts = ((one.check_id, dict(one.facts)) for one in found)
    assert {(check, Path(str(own["file"])).name, own["line"]) for check, own in facts} == expected
