"""Platforms say in ways of their own how many processes run with one configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.checks.judge import judge
from eosctl.findings.linted import findings_of
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Deployment, Role
from eosctl.settings.deployment.deployment_files import read_components, read_deployment

VARIABLES = '{name: KAFKA_TRANSACTIONAL_ID, value: p}, {name: KAFKA_BOOTSTRAP_SERVERS, value: "k:9092"}'
AZURE = f"""properties:
  template:
    containers:
      - {{image: "acme/p:1", name: p, env: [{VARIABLES}]}}
    scale: {{minReplicas: 1, maxReplicas: %s}}
"""
BLOCKS = """      env {
        name  = "KAFKA_TRANSACTIONAL_ID"
        value = "p"
      }
      env {
        name  = "KAFKA_BOOTSTRAP_SERVERS"
        value = "k:9092"
      }
"""
AZURE_TF = f"""resource "azurerm_container_app" "p" {{
  template {{
    max_replicas = 4
    container {{
      name  = "p"
      image = "acme/p:1"
{BLOCKS}    }}
  }}
}}
"""
RUN_TF = f"""resource "google_cloud_run_v2_service" "p" {{
  template {{
    scaling {{ max_instance_count = 3 }}
    containers {{
      image = "acme/p:1"
{BLOCKS}    }}
  }}
}}
"""
NOMAD = """job "w" {
  type = "%s"
  group "g" {
    task "w" {
      driver = "docker"
      config { image = "acme/w:1" }
      env {
        KAFKA_TRANSACTIONAL_ID = "w"
        KAFKA_BOOTSTRAP_SERVERS = "k:9092"
      }
    }
  }
}
"""
SWARM = """services:
  w:
    image: acme/w:1
    deploy: {mode: %s}
    environment: {KAFKA_TRANSACTIONAL_ID: w, KAFKA_BOOTSTRAP_SERVERS: "k:9092"}
"""
ECS = """resource "aws_ecs_task_definition" "p" {
  container_definitions = jsonencode([{ name = "p", image = "acme/p", environment = [
    { name = "KAFKA_BOOTSTRAP_SERVERS", value = "k:9092" },
    { name = "KAFKA_TRANSACTIONAL_ID", value = "p" } ] }])
}
resource "aws_ecs_service" "p" {
  task_definition     = aws_ecs_task_definition.p.arn
  scheduling_strategy = "DAEMON"
}
"""
STACK = """Resources:
  T:
    Type: AWS::ECS::TaskDefinition
    Properties:
      ContainerDefinitions:
        - Name: p
          Image: acme/p
          Environment: [{Name: KAFKA_TRANSACTIONAL_ID, Value: p}, {Name: KAFKA_BOOTSTRAP_SERVERS, Value: "k:9092"}]
  S: {Type: "AWS::ECS::Service", Properties: {TaskDefinition: !Ref T, SchedulingStrategy: DAEMON}}
"""


@pytest.mark.parametrize(
    ("file", "text", "count"),
    [
        ("app.yaml", AZURE % 5, "5"),
        ("app.yaml", AZURE % 1, None),
        ("a.tf", AZURE_TF, "4"),
        ("r.tf", RUN_TF, "3"),
        ("w.nomad", NOMAD % "system", "one per node"),
        ("w.nomad", NOMAD % "service", None),
        ("stack.yml", SWARM % "global", "one per node"),
        ("stack.yml", SWARM % "replicated", "1"),
        ("e.tf", ECS, "one per node"),
        ("stack.yaml", STACK, "one per node"),
    ],
)
def test_a_platform_shows_the_number_of_processes(file: str, text: str, count: str | None) -> None:
    (producer,) = (one for one in read_components(file, text) if one.role is Role.PRODUCER)
    assert (producer.instances.text if producer.instances else None) == count


TEMPLATE = """apiVersion: template.openshift.io/v1
kind: Template
parameters:
  - {name: COUNT, value: "%s"}
  - {name: PREFIX, value: pay-}
  - {name: SUFFIX, generate: expression}
objects:
  - kind: Deployment
    metadata: {name: pay}
    spec:
      replicas: ${{COUNT}}
      selector: {}
      template:
        spec:
          containers:
            - name: pay
              image: o/pay:1
              env:
                - {name: KAFKA_TRANSACTIONAL_ID, value: "%s"}
"""


@pytest.mark.parametrize(
    ("count", "value", "is_found"),
    [("3", "${PREFIX}tx", True), ("1", "${PREFIX}tx", False), ("3", "${PREFIX}${SUFFIX}", False)],
)
def test_parameters_of_a_template_are_filled_in(count: str, value: str, is_found: bool) -> None:
    components = read_components("template.yaml", TEMPLATE % (count, value))
    found = findings_of(judge(Deployment(tuple(components), load_tables())))
    assert ["EOS-CFG-147"] * is_found == [one.check_id for one in found]


def test_an_overlay_shares_an_id_of_the_environment(tmp_path: Path) -> None:
    files = {
        "base/client.properties": "transactional.id=${env:TX_ID}\n",
        "base/kustomization.yaml": (
            "resources: [pay.yaml]\nconfigMapGenerator:\n- {name: c, files: [client.properties]}\n"
        ),
        "base/pay.yaml": (
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: pay}\nspec:\n  replicas: 1\n"
            "  template:\n    spec:\n"
            "      containers:\n      - {name: pay, image: pay, env: [{name: TX_ID, value: pay-tx}]}\n"
            "      volumes: [{name: c, configMap: {name: c}}]\n"
        ),
        "prod/kustomization.yaml": "resources: [../base]\nreplicas:\n- name: pay\n  count: 4\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (found,) = findings_of(judge(read_deployment([tmp_path]).deployment))
    assert found.message == "transactional.id=pay-tx is the id of all 4 processes."
    assert found.cause == f"{tmp_path}/prod/kustomization.yaml:4 starts 4 processes with it."
