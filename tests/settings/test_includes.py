"""What configurations include and the given files lack is named as not judged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from eosctl.errors import ExitCode
from eosctl.services.lint_configuration import LintRequest, lint_configuration
from eosctl.settings.deployment.deployment_files import read_deployment

SPRING = "spring.kafka.consumer.group-id=pay\n"
PEKKO = "pekko.kafka.consumer { kafka-clients { group.id = pay } }\n"
COMPOSE = """services:
  pay:
    image: shop/pay
    extends:
      service: base
      file: base.yml
    environment: {KAFKA_GROUP_ID: pay, KAFKA_BOOTSTRAP_SERVERS: "k:9092"}
"""
ENV_FILES = """services:
  a:
    image: shop/kafka-relay
    env_file: [.env.kafka, given.env]
  b:
    image: shop/kafka-relay
    env_file:
      - ./c.env
      - path: d.env
        required: false
  c: {image: shop/kafka-relay}
  d:
    image: shop/kafka-relay
    env_file: e.env
"""
MODULES = """module "vpc" {
  source = "acme/vpc/aws"
}
module "msk" {
  source        = "acme/msk-kafka-cluster/aws"
  kafka_version = "3.6.0"
}
module "topics" {
  source = "./topics"
}
"""
TOPIC = 'resource "kafka_topic" "a" {\n  name = "a"\n  partitions = 1\n  replication_factor = 3\n}\n'


def unseen(folder: Path, files: Mapping[str, str]) -> list[tuple[str, int]]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return [(one.reads, one.place.line) for one in read_deployment([folder]).unseen]


@pytest.mark.parametrize(
    ("files", "missing"),
    [
        ({"a.conf": f'include "common"\n{PEKKO}'}, [("common", 1)]),
        ({"a.conf": f'include required(file("common.conf"))\n{PEKKO}', "common.conf": "x = 1\n"}, []),
        ({"a.conf": f'include "common"\n{PEKKO}', "common.conf": "x = 1\n"}, []),
        (
            {"application.properties": f"spring.config.import=optional:file:./k.yml\n{SPRING}"},
            [("optional:file:./k.yml", 1)],
        ),
        ({"application.properties": f"spring.config.import=optional:file:./k.yml\n{SPRING}", "k.yml": "x: 1\n"}, []),
        (
            {"application.yml": "spring:\n  config:\n    import: 'configserver:'\n  kafka:\n    client-id: pay\n"},
            [("configserver:", 3)],
        ),
        ({"fluent.conf": "@INCLUDE out.conf\n[OUTPUT]\n    Name kafka\n    rdkafka.acks 1\n"}, [("out.conf", 1)]),
        ({"compose.yaml": COMPOSE}, [("base.yml", 6)]),
        ({"compose.yaml": COMPOSE, "base.yml": "services: {}\n"}, []),
        ({"a.conf": 'include "common"\nx = 1\n'}, []),
        (
            {"compose.yaml": ENV_FILES, "given.env": "A=1\n"},
            [(".env.kafka", 4), ("./c.env", 8), ("d.env", 9), ("e.env", 14)],
        ),
        ({"compose.yaml": ENV_FILES.replace("kafka", "web")}, []),
        ({"main.tf": MODULES, "topics/main.tf": TOPIC}, [("the module acme/msk-kafka-cluster/aws", 5)]),
        ({"main.tf": MODULES}, [("the module acme/msk-kafka-cluster/aws", 5), ("the module ./topics", 9)]),
    ],
)
def test_an_include_that_is_missing_is_named(
    tmp_path: Path, files: Mapping[str, str], missing: list[tuple[str, int]]
) -> None:
    assert unseen(tmp_path, files) == missing


def test_settings_in_missing_files_alone_are_incomplete(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(
        "services:\n  a:\n    image: acme/kafka-relay\n    env_file: a.env\n", "utf-8"
    )
    result = lint_configuration(LintRequest((tmp_path,)))
    assert ([one.reads for one in result.linted.unseen], result.exit_code) == (["a.env"], ExitCode.INCOMPLETE)
