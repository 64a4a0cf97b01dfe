"""Templates of files that Terraform fills in are judged with the module's values."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.conftest import eosctl
from tests.settings.test_environments import found

pytestmark = pytest.mark.usefixtures("own_home")

MAIN = """resource "aws_msk_configuration" "this" {
  name           = "core"
  kafka_versions = ["3.8.x"]
  server_properties = templatefile("${path.module}/server.properties.tftpl", {
    min_isr = var.min_isr
  })
}
resource "aws_msk_cluster" "core" {
  kafka_version          = "3.8.x"
  number_of_broker_nodes = 3
}
variable "min_isr" { type = number }
"""
TEMPLATE = """default.replication.factor=3
min.insync.replicas=${min_isr}
log.retention.hours=${hours}
"""


@pytest.mark.parametrize(
    ("template", "tfvars", "expected"),
    [
        (TEMPLATE, "min_isr = 1\n", {("EOS-CFG-035", "server.properties.tftpl", 2)}),
        (TEMPLATE, "min_isr = 2\n", set()),
        (
            "#kafka\n%{ if x }\nmin.insync.replicas=1\n%{ endif }\n",
            "",
            {("EOS-CFG-035", "server.properties.tftpl", 3)},
        ),
    ],
)
def test_a_template_has_the_values_of_its_call(
    tmp_path: Path, template: str, tfvars: str, expected: set[tuple[str, str, int]]
) -> None:
    files = {"main.tf": MAIN, "terraform.tfvars": tfvars, "server.properties.tftpl": template}
    assert {one for one in found(tmp_path, files) if one[0] == "EOS-CFG-035"} == expected


def test_a_template_that_is_not_there_is_a_reference(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(MAIN)
    linted = eosctl("config", "lint", tmp_path)
    assert "main.tf" in linted.out
    assert "Traceback" not in linted.out + linted.err


def test_directives_in_a_chart_are_passed_over(tmp_path: Path) -> None:
    text = "env:\n  %{ for key, value in names }\n  ${key}: ${value}\n  %{ endfor }\n  %{ if x ~}A: b%{ endif }\n"
    (tmp_path / "values.yaml.tpl").write_text(f"{text}  KAFKA_ACKS: '1'\n  KAFKA_TRANSACTIONAL_ID: pay-1\n")
    linted = eosctl("config", "lint", tmp_path)
    assert (linted.code, "values.yaml.tpl:6" in linted.out) == (3, True)
