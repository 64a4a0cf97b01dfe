"""Variables of containers over the files of applications: .NET, Micronaut, Viper, node-config, and others."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from eosctl.findings.linted import Linted
from eosctl.services.lint_configuration import LintRequest, lint_configuration

DOTNET: Final = """\
{"Kafka": {
  "Consumer": {"GroupId": "orders", "EnableAutoCommit": false, "IsolationLevel": "ReadCommitted"},
  "Producer": {
    "TransactionalId": "orders-dev",
    "Acks": "All"
  }
}}
"""
MICRONAUT: Final = """\
micronaut.application.name: orders
kafka:
  producers:
    orders-out:
      transactional.id: orders-dev
"""
MICROPROFILE: Final = """\
mp.messaging.outgoing.orders-out.connector=smallrye-kafka
mp.messaging.outgoing.orders-out.transactional.id=orders-dev
mp.messaging.outgoing.orders-out.acks=all
"""
VIPER: Final = """\
server: {port: 8080}
kafka:
  producer: {transactional.id: orders-dev, acks: all}
  consumer: {group.id: orders, isolation.level: read_committed, enable.auto.commit: false}
"""
DYNACONF: Final = """\
[default.kafka]
bootstrap_servers = "k:9092"
transactional_id = "orders-dev"
acks = "all"
"""
NODE: Final = """\
{"kafka": {
  "client": {"clientId": "orders", "brokers": ["k:9092"]},
  "producer": {"transactionalId": "orders-dev", "idempotent": true, "maxInFlightRequests": 1}
}}
"""
NAMED: Final = '{"kafka": {"producer": {"transactionalId": "TX_ID"}}}'
SPRING: Final = """\
spring:
  application.name: orders
  kafka.producer: {transaction-id-prefix: orders-dev-, acks: all}
"""
SPRING_PROD: Final = "spring.kafka.producer: {compression-type: lz4}\n"
FILES: Final = [
    ({"appsettings.json": DOTNET}, "Kafka__Producer__TransactionalId"),
    ({"appsettings.json": DOTNET, "appsettings.Production.json": '{"Kafka": {"Producer": {"LingerMs": 5}}}'},
     "KAFKA__PRODUCER__TRANSACTIONALID"),
    ({"src/main/resources/application.yml": MICRONAUT}, "KAFKA_PRODUCERS_ORDERS_OUT_TRANSACTIONAL_ID"),
    ({"src/main/resources/application.properties": MICROPROFILE}, "MP_MESSAGING_OUTGOING_ORDERS_OUT_TRANSACTIONAL_ID"),
    ({"config/config.yaml": VIPER}, "SHOP_KAFKA_PRODUCER_TRANSACTIONAL_ID"),
    ({"settings.toml": DYNACONF}, "DYNACONF_KAFKA__TRANSACTIONAL_ID"),
    ({"config/default.json": NODE, "config/custom-environment-variables.json": NAMED}, "TX_ID"),
    ({"src/main/resources/application.yml": SPRING, "src/main/resources/application-prod.yml": SPRING_PROD},
     "SPRING_KAFKA_PRODUCER_TRANSACTION_ID_PREFIX"),
]  # fmt: skip
NAMES: Final = [variable.partition("_T")[0] for _, variable in FILES]


def _kubernetes(variables: dict[str, str], replicas: int = 3) -> str:
    lines = "".join(f"            - name: {name}\n              value: '{text}'\n" for name, text in variables.items())
    return f"""\
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: orders}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: orders}}}}
  template:
    spec:
      containers:
        - name: app
          image: registry.example/orders:1
          envFrom: [{{configMapRef: {{name: orders-env}}}}]
          env:
            - name: POD_NAME
              valueFrom: {{fieldRef: {{fieldPath: metadata.name}}}}
{lines}"""


def _compose(variables: dict[str, str]) -> str:
    lines = "".join(f"      {name}: '{text}'\n" for name, text in variables.items())
    return f"services:\n  orders:\n    image: registry.example/orders:1\n    environment:\n{lines}    scale: 3\n"


def _lint(folder: Path, files: dict[str, str]) -> Linted:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return lint_configuration(LintRequest(paths=(folder,))).linted


def _errors(linted: Linted) -> list[tuple[str, str]]:
    bad = [one for one in linted.findings if one.severity.name in ("ERROR", "CRITICAL")]
    return [(one.check_id, f"{Path(str(dict(one.facts)['file'])).name}:{dict(one.facts)['line']}") for one in bad]


@pytest.mark.parametrize(("files", "variable"), FILES, ids=NAMES)
def test_a_variable_replaces_the_id_of_the_file(tmp_path: Path, files: dict[str, str], variable: str) -> None:
    linted = _lint(tmp_path, {**files, "k8s/orders.yaml": _kubernetes({variable: "orders-$(POD_NAME)"})})
    assert _errors(linted) == []


@pytest.mark.parametrize(("files", "variable"), FILES, ids=NAMES)
def test_a_shared_id_is_reported_where_it_is_given(tmp_path: Path, files: dict[str, str], variable: str) -> None:
    linted = _lint(tmp_path, {**files, "compose.yaml": _compose({variable: "orders-prod"})})
    assert {place for _, place in _errors(linted)} == {"compose.yaml:5"}


@pytest.mark.parametrize(("files", "variable"), FILES, ids=NAMES)
def test_the_id_of_the_file_counts_without_it(tmp_path: Path, files: dict[str, str], variable: str) -> None:
    linted = _lint(tmp_path, {**files, "k8s/orders.yaml": _kubernetes({f"X_{variable[:3]}": "orders-$(POD_NAME)"})})
    assert {check for check, _ in _errors(linted)} <= {"EOS-CFG-147", "EOS-CFG-072"}
    assert _errors(linted)
    assert not any(place.startswith("orders.yaml") for _, place in _errors(linted))


MAP: Final = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: orders-env}
data: {Kafka__Consumer__EnableAutoCommit: "true"}
"""


def test_variables_of_a_config_map_lie_over_the_file(tmp_path: Path) -> None:
    pod = _kubernetes({"Kafka__Producer__TransactionalId": "orders-$(POD_NAME)"})
    linted = _lint(tmp_path, {"appsettings.json": DOTNET, "k8s/orders.yaml": pod, "k8s/map.yaml": MAP})
    assert _errors(linted) == [("EOS-CFG-021", "map.yaml:4")]


def test_a_variable_adds_what_the_file_lacks(tmp_path: Path) -> None:
    file = DOTNET.replace('    "TransactionalId": "orders-dev",\n', "")
    linted = _lint(tmp_path, {"appsettings.json": file, "c.yaml": _compose({"Kafka__Producer__TransactionalId": "a"})})
    assert _errors(linted) == [("EOS-CFG-147", "c.yaml:5")]
    assert sum(one.role == "producer" for one in linted.read_as) == 1


def test_variables_with_two_prefixes_leave_the_file(tmp_path: Path) -> None:
    pod = _kubernetes({f"{name}_KAFKA_PRODUCER_TRANSACTIONAL_ID": f"{name}-$(POD_NAME)" for name in ("SHOP", "AUDIT")})
    linted = _lint(tmp_path, {"config/config.yaml": VIPER, "k8s/orders.yaml": pod})
    assert _errors(linted) == [("EOS-CFG-147", "config.yaml:3")]
