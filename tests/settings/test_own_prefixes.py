"""Kafka's settings behind beginnings that a program made up."""

from __future__ import annotations

import pytest

from eosctl.checks.judge import judge
from eosctl.findings.linted import findings_of
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Deployment, Role
from eosctl.model.severity import Severity
from eosctl.settings.deployment.deployment_files import read_components, read_texts
from eosctl.settings.formats.tree import Leaf
from eosctl.settings.names.own_prefixes import own_prefixes
from tests.settings.test_deployment_files import findings
from tests.settings.test_flink_jobs import in_config_map

LEDGER = """ledger.http.port=8080
ledger.kafka.bootstrap.servers=k:9092
ledger.kafka.transactional.id=ledger
ledger.kafka.acks=1
"""
RELAY = """input.kafka.group.id=relay
input.kafka.enable.auto.commit=true
input.kafka.isolation.level=read_committed
output.kafka.transactional.id=relay
"""
STREAMS = """shop.streams.application.id=basket
shop.streams.processing.guarantee=exactly_once_v2
shop.streams.commit.interval.ms=30000
"""
OTHERS = {
    "hbase.properties": "hbase.zookeeper.session.timeout.ms=3000\nhbase.client.id=a\n",
    "connector.properties": "connector.class=a.B\nhistory.kafka.isolation.level=read_committed\n",
    "server.properties": "process.roles=broker\nnode.id=1\nplugin.kafka.transactional.id=a\n",
}


@pytest.mark.parametrize(
    ("text", "expected", "line"),
    [(LEDGER, "EOS-CFG-011", 4), (RELAY, "EOS-CFG-021", 2), (STREAMS, "EOS-CFG-001", 3)],
)
def test_keys_that_begin_alike_are_judged_together(text: str, expected: str, line: int) -> None:
    assert findings(("app.properties", text)) == [f"{expected} app.properties:{line}"]
    assert findings(("map.yaml", in_config_map("app.properties", text))) == [f"{expected} map.yaml:{line + 5}"]


def test_each_beginning_is_a_client_of_one_application() -> None:
    read = read_components("app.properties", RELAY)
    assert [(one.role, one.value("group.id").key) for one in read if one.role is Role.CONSUMER] == [
        (Role.CONSUMER, "input.kafka.group.id")
    ]
    assert len({one.application for one in read}) == 1


@pytest.mark.parametrize("file", OTHERS)
def test_keys_of_other_programs_are_left_alone(file: str) -> None:
    leaves = [(key, Leaf(value, 1)) for key, _, value in (line.partition("=") for line in OTHERS[file].splitlines())]
    assert own_prefixes(leaves, file) == ()


def test_keys_of_a_config_map_are_judged_with_its_workload() -> None:
    held = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ledger}\ndata:\n"
    held += '  ledger.http.port: "8080"\n  ledger.kafka.transactional.id: ledger\n'
    container = "{name: app, image: app:1, envFrom: [{configMapRef: {name: ledger}}]}"
    workload = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: ledger}\nspec:\n  replicas: 2\n"
    workload += f"  template: {{spec: {{containers: [{container}]}}}}\n"
    deployment = Deployment(tuple(read_texts({"map.yaml": held, "deploy.yaml": workload})), load_tables())
    (finding,) = (one for one in findings_of(judge(deployment)) if one.severity.at_least(Severity.WARNING))
    assert (finding.check_id, dict(finding.facts)["line"]) == ("EOS-CFG-147", 6)
