"""Variables and locals of a Terraform module: values, places, copies of blocks, and what stays unknown."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from eosctl.checks.judge import judge
from eosctl.findings.linted import findings_of
from eosctl.model.deployment import Role
from eosctl.settings.deployment.deployment_files import read_deployment
from eosctl.settings.files.documents import parse_documents
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row
from eosctl.settings.platforms.terraform_variables import with_variables

MAIN = """resource "kubernetes_deployment_v1" "pay" {
  metadata { name = "pay" }
  spec {
    replicas = var.replicas
    template { spec { container {
      name = "pay"
      env {
        name  = "KAFKA_TRANSACTIONAL_ID"
        value = var.id
      }
    } } }
  }
}
"""
VARIABLES = 'variable "replicas" {\n  default = %s\n}\nvariable "id" {\n  default = "pay-tx"\n}\n'
TOPIC = """resource "kafka_topic" "t" {
  name               = "t"
  replication_factor = var.factor
  partitions         = 3
  config             = %s
}
"""
FACTOR = 'variable "factor" {\n  default = 3\n}\n'
LOCALS = (
    'locals {\n  safe = {\n    "min.insync.replicas" = "2"\n    "unclean.leader.election.enable" = "true"\n  }\n}\n'
)


def found(folder: Path, files: Mapping[str, str]) -> set[tuple[str, str, int]]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    facts = ((one.check_id, dict(one.facts)) for one in findings_of(judge(read_deployment([folder]).deployment)))
    return {(check, str(Path(str(f["file"])).relative_to(folder)), int(str(f["line"]))) for check, f in facts}


@pytest.mark.parametrize(
    ("files", "is_shared"),
    [
        ({"variables.tf": VARIABLES % "3"}, True),
        ({"variables.tf": VARIABLES % "1"}, False),
        ({"variables.tf": VARIABLES % "1", "terraform.tfvars": "replicas = 3\n"}, True),
        ({"variables.tf": VARIABLES % "3", "x.auto.tfvars": "replicas = 1\n"}, False),
        ({"variables.tf": VARIABLES % "1", "env/prod.tfvars": "replicas = 4\n"}, True),
        ({"variables.tf": 'variable "replicas" {}\nvariable "id" {}\n'}, False),
    ],
)
def test_a_count_of_a_variable_shares_an_id(tmp_path: Path, files: Mapping[str, str], *, is_shared: bool) -> None:
    expected = {("EOS-CFG-147", "variables.tf", 5)} if is_shared else set()
    assert found(tmp_path, {"main.tf": MAIN, **files}) == expected


@pytest.mark.parametrize(
    "config",
    [
        "local.safe",
        'merge(local.safe, { "retention.ms" = "604800000" })',
        'merge({ "retention.ms" = "604800000" }, local.safe)',
    ],
)
def test_a_local_gives_the_settings_of_a_topic(tmp_path: Path, config: str) -> None:
    files = {"main.tf": TOPIC % config, "variables.tf": FACTOR, "locals.tf": LOCALS}
    assert found(tmp_path, files) == {("EOS-CFG-037", "locals.tf", 4)}


def test_a_later_object_of_a_merge_counts(tmp_path: Path) -> None:
    config = 'merge(local.safe, { "unclean.leader.election.enable" = "false" })'
    topic = {"main.tf": TOPIC % config, "variables.tf": FACTOR}
    assert ("EOS-CFG-037", "main.tf", 5) not in found(tmp_path, topic | {"locals.tf": LOCALS})


def test_each_member_of_for_each_is_a_resource(tmp_path: Path) -> None:
    text = """locals {
  topics = {
    orders  = { factor = 3, unclean = "false" }
    refunds = { factor = 3, unclean = "true" }
  }
}
resource "kafka_topic" "all" {
  for_each           = local.topics
  name               = each.key
  replication_factor = each.value.factor
  partitions         = 1
  config             = { "unclean.leader.election.enable" = each.value.unclean, "min.insync.replicas" = "2" }
}
"""
    assert found(tmp_path, {"main.tf": text}) == {("EOS-CFG-037", "main.tf", 4)}


def test_dynamic_blocks_are_the_variables_of_a_container(tmp_path: Path) -> None:
    env = MAIN[MAIN.index("      env {") : MAIN.index("    } } }")]
    dynamic = """      dynamic "env" {
        for_each = { KAFKA_TRANSACTIONAL_ID = var.id }
        content {
          name  = env.key
          value = env.value
        }
      }
"""
    files = {"main.tf": MAIN.replace(env, dynamic), "variables.tf": VARIABLES % "3"}
    assert found(tmp_path, files) == {("EOS-CFG-147", "variables.tf", 5)}


def test_references_to_each_other_end(tmp_path: Path) -> None:
    text = 'locals {\n  a = local.b\n  b = "x-${local.a}"\n  kafka = local.a\n}\n'
    assert found(tmp_path, {"main.tf": text}) == set()


def size(node: Node) -> int:
    match node:
        case Leaf(text):
            return len(text or "")
        case Branch(entries):
            return sum(size(child) for _, child in entries)
        case Row(nodes):
            return sum(map(size, nodes))


@pytest.mark.parametrize(("value", "reference"), [("[%s]", "local.b%d,"), ('"%s"', "${local.b%d}")])
def test_values_that_grow_exponentially_stay_as_written(value: str, reference: str) -> None:
    levels = "".join(f"  b{n} = {value % (reference % (n + 1) * 60)}\n" for n in range(7))
    text = f'locals {{\n{levels}  b7 = "word"\n  kafka = local.b0\n}}\n'
    document = parse_documents("main.tf", text)[0]
    assert size(with_variables(document, "main.tf")) < 100_000_000


def test_sensitive_variables_are_not_shown(tmp_path: Path) -> None:
    config = '{ "cleanup.policy" = local.a, "retention.ms" = var.b }'
    given = (
        'variable "pw" {\n  sensitive = true\n}\nvariable "b" {\n  default = "hunter2"\n  sensitive = true\n}\n'
        'locals {\n  a = "x-${var.pw}"\n}\n'
    )
    (tmp_path / "variables.tf").write_text(given)
    (tmp_path / "terraform.tfvars").write_text('pw = "hunter2"\n')
    document = parse_documents("main.tf", TOPIC % config)[0]
    assert "hunter2" not in str(with_variables(document, str(tmp_path / "main.tf")))


ISR = """variable "topics" { type = map(object({ isr = number })) }
resource "kafka_topic" "t" {
  for_each           = var.topics
  name               = each.key
  replication_factor = 3
  partitions         = 3
  config             = { "min.insync.replicas" = each.value.isr, "unclean.leader.election.enable" = "false" }
}
"""
RISKY = 'topics = {\n  "a" = { isr = 1 }\n  "b" = { isr = 2 }\n}\n'
WRITER = "transactional.id=w-1\ntopic=a\n"


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ({"prod.tfvars": RISKY}, {("EOS-CFG-158", "prod.tfvars", 2)}),
        ({"env/prod.tfvars": RISKY}, {("EOS-CFG-158", "env/prod.tfvars", 2)}),
        ({"prod.tfvars": RISKY, "dev.tfvars": RISKY}, {("EOS-CFG-158", "dev.tfvars", 2)}),
        ({"prod.tfvars": RISKY, "dev.tfvars": RISKY.replace("1", "2")}, {("EOS-CFG-158", "prod.tfvars", 2)}),
        ({"prod.tfvars": RISKY.replace("isr = 1", "isr = 2")}, set()),
    ],
)
def test_the_only_file_of_variables_gives_what_has_no_default(
    others: Mapping[str, str], expected: set[tuple[str, str, int]], tmp_path: Path
) -> None:
    assert found(tmp_path, {"main.tf": ISR, "app/producer.properties": WRITER, **others}) == expected


MSK = """variable "isr" {}
variable "name" { default = "orders" }
resource "aws_msk_configuration" "this" {
  name = var.name
  kafka_versions = ["3.7.x"]
  server_properties = <<EOT
transaction.state.log.replication.factor=3
transaction.state.log.min.isr=${var.isr}
EOT
}
"""


def test_each_file_of_variables_is_an_environment(tmp_path: Path) -> None:
    files = {"main.tf": MSK, "envs/dev.tfvars": "isr = 2\n", "envs/prod.tfvars": "isr = 1\n"}
    assert found(tmp_path, files) == {("EOS-CFG-032", "main.tf", 8)}
    brokers = read_deployment([tmp_path]).deployment.of(Role.BROKER)
    assert [(one.environment, one.number("transaction.state.log.min.isr")) for one in brokers] == [
        ("dev.tfvars", 2),
        ("prod.tfvars", 1),
    ]


@pytest.mark.parametrize(("name", "text"), [("prod.tfvars", 'id = "other"\n'), ("prod.tfvars.json", '{"id": "other"}')])
def test_an_environment_differs_from_the_defaults(name: str, text: str, tmp_path: Path) -> None:
    shared = found(tmp_path, {"main.tf": MAIN, "variables.tf": VARIABLES % "3", name: text})
    assert ("EOS-CFG-147", name, 1) in shared
