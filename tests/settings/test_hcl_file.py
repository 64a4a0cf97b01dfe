"""HCL: what Terraform files say about Kafka, with lines, and nothing evaluated."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eosctl.checks.judge import judge
from eosctl.errors import ConfigFileError
from eosctl.findings.linted import findings_of
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Deployment
from eosctl.settings.deployment.deployment_files import read_components, read_deployment
from eosctl.settings.formats.hcl_file import MAX_CHARACTERS, HclError, parse_hcl
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row, flatten


def plain(node: Node) -> Any:
    match node:
        case Leaf(text):
            return text
        case Row(nodes):
            return [plain(member) for member in nodes]
        case Branch(entries):
            return {name: plain(child) for name, child in entries}


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ('a = "b"\nc = 1 # d\n', {"a": "b", "c": "1"}),
        ("a = -1\nb = 1.5\nc = true\nd = null\n", {"a": "-1", "b": "1.5", "c": "true", "d": None}),
        ('a "b" "c" { d = 1 }', {"a": {"b": {"c": {"d": "1"}}}}),
        ("a b { c {\n d = 1\n} }\n", {"a": {"b": {"c": {"d": "1"}}}}),
        ('a = { "b.c" = 1, d : 2\n e = 3 }', {"a": {"b.c": "1", "d": "2", "e": "3"}}),
        ('a = ["b", 1,\n]', {"a": ["b", "1"]}),
        (r'a = "q\"\\n\n"', {"a": 'q"\\n\n'}),
        ('a = "x-${var.y}"', {"a": "x-${var.y}"}),
        ("a = var.b", {"a": "${var.b}"}),
        ("a = var.b ? 1 : 2", {"a": "${var.b ? 1 : 2}"}),
        ("a = 60 * 1000", {"a": "${60 * 1000}"}),
        ('a = file("b")', {"a": '${file("b")}'}),
        (
            "a = merge(local.b, { c = 1, d = 2 }, { c = 3 })",
            {"a": {"merge of ${local.b}": "${local.b}", "c": "3", "d": "2"}},
        ),
        ("a = jsonencode({ b = 1 })", {"a": {"b": "1"}}),
        ('a = join("\\n", ["b=1", "c=2"])', {"a": "b=1\nc=2"}),
        ('a = join("\\n", [\n  "b=1",\n\n  # c\n  "d=2",\n])', {"a": "b=1\n\n\nd=2"}),
        ('a = join(",", ["b", "c"])', {"a": '${join(",", ["b", "c"])}'}),
        ('a = join("\\n", [for k, v in b : "k=v"])', {"a": '${join("\\n", [for k, v in b : "k=v"])}'}),
        ("a = <<EOT\nb=1\n c=2\nEOT\n", {"a": "b=1\n c=2\n"}),
        ("a = <<-EOT\n    b=1\n      c=2\n    EOT\n", {"a": "b=1\n  c=2\n"}),
        ("", {}),
    ],
)
def test_meaning(text: str, meaning: object) -> None:
    assert plain(parse_hcl(text)) == meaning


def test_every_value_has_its_line() -> None:
    text = '# first\na "b" {\n  c = {\n    "d" = 1\n  }\n  e = <<EOT\nf=1\nEOT\n}\n'
    assert {key: leaf.line for key, leaf in flatten(parse_hcl(text))} == {"a.b.c.d": 4, "a.b.e": 7}


@pytest.mark.parametrize("text", ["a = \n", 'a "b" {\n', "a {{\n", "a = [1", '"\n', "a = {b = }"])
def test_invalid_hcl_is_refused_with_a_line(text: str) -> None:
    with pytest.raises(HclError) as refused:
        parse_hcl(text)
    assert refused.value.line >= 1


@pytest.mark.parametrize("text", ["a = 1\n" * MAX_CHARACTERS, "a = " + "[" * 5000])
def test_what_is_too_large_is_refused(text: str) -> None:
    with pytest.raises(HclError):
        parse_hcl(text)


@example("E{}")
@given(st.text(alphabet='ab{}[]()"=\n<$,.-#/ 1E', max_size=40))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        parse_hcl(text)
    except HclError as error:
        assert 1 <= error.line <= text.count("\n") + 2


TOPICS = """resource "kafka_topic" "orders" {
  name               = "orders"
  partitions         = 12
  replication_factor = 3
  config = {
    "min.insync.replicas" = "4"
  }
}
resource "aiven_kafka_topic" "refunds" {
  topic_name  = "refunds"
  partitions  = 3
  replication = 3
  config {
    unclean_leader_election_enable = true
    min_insync_replicas            = var.least
  }
}
resource "aws_msk_configuration" "payments" {
  server_properties = <<-PROPERTIES
    process.roles = broker
    unclean.leader.election.enable = true
  PROPERTIES
}
resource "aiven_kafka" "k" {
  kafka_user_config {
    kafka {
      group_max_session_timeout_ms              = 70000
      transaction_partition_verification_enable = false
    }
  }
}
resource "confluent_connector" "c" {
  config_nonsensitive = {
    "connector.class"                      = "PostgresCdcSource"
    "producer.override.enable.idempotence" = "false"
  }
}
locals {
  producer = jsonencode({ transactional_id = "orders-1", acks = "1" })
}
"""


def test_resources_of_several_providers_are_judged() -> None:
    findings = findings_of(judge(Deployment(tuple(read_components("kafka.tf", TOPICS)), load_tables())))
    found = {(finding.check_id, dict(finding.facts)["line"]) for finding in findings}
    assert found == {
        ("EOS-CFG-034", 6),
        ("EOS-CFG-037", 14),
        ("EOS-CFG-037", 21),
        ("EOS-CFG-054", 28),
        ("EOS-CFG-092", 35),
        ("EOS-CFG-011", 39),
    }


def test_without_the_parser_only_files_about_kafka_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "hcl2" else find(name, *more))
    (tmp_path / "network.tf").write_text('resource "aws_vpc" "v" {}\n')
    read = read_deployment([tmp_path])
    assert (read.unreadable, len(read.without_settings)) == ((), 1)
    with pytest.raises(ConfigFileError, match="HCL cannot be read") as refused:
        read_components("kafka.tf", TOPICS)
    assert "eosctl[hcl]" in str(refused.value.next_step)
