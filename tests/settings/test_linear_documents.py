"""Judging grows linearly with the documents of a file, measured in bytecodes, not in seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
import yaml

from benchmarks.hot_paths import bytecodes
from eosctl.checks.judge import judge
from eosctl.errors import ConfigFileError
from eosctl.settings.deployment.deployment_files import read_deployment
from eosctl.settings.programs.kafka_commands import entities_in

PRODUCER: Final = """---
transactional.id: a{n}
acks: all
"""
PROFILE: Final = """---
spring:
  config: {{activate: {{on-profile: p{n}}}}}
  kafka:
    producer: {{acks: all, transaction-id-prefix: "a-${{HOSTNAME}}-"}}
"""
DEPLOYMENT: Final = """---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: d{n}}}
spec:
  replicas: 1
  selector: {{}}
  template:
    spec:
      containers:
        - name: app
          image: shop/app
          env:
            - {{name: KAFKA_TRANSACTIONAL_ID, value: a{n}}}
            - {{name: KAFKA_GROUP_ID, value: g{n}}}
            - {{name: KAFKA_ISOLATION_LEVEL, value: read_committed}}
"""
TOPIC: Final = """---
apiVersion: kafka.strimzi.io/v1
kind: KafkaTopic
metadata: {{name: t{n}}}
spec: {{replicas: 3, partitions: 1}}
"""


@pytest.mark.parametrize("document", [PRODUCER, PROFILE, DEPLOYMENT, TOPIC])
def test_twice_the_documents_take_twice_the_work(document: str, tmp_path: Path) -> None:
    path = tmp_path / "application.yaml"

    def work(count: int) -> int:
        path.write_text("".join(document.format(n=n) for n in range(count)), "utf-8")
        return bytecodes(lambda: judge(read_deployment((path,)).deployment))

    work(1)  # fills the caches
    few, some, many = (work(count) for count in (30, 60, 120))
    assert many - some < 2.4 * (some - few)


#: Files with texts of other files inside: the head, and one part for each of them.
WITHIN: Final = {
    "docker-compose.yml": (
        "services:\n",
        "  s{n}:\n    image: x\n    command: >\n      kafka-topics.sh --create --topic t{n}\n      --partitions 1\n",
    ),
    ".gitlab-ci.yml": ("a:\n  script:\n", "    - kafka-topics.sh --create --topic t{n} --partitions 1\n"),
    "tasks.yaml": (
        "- hosts: a\n  tasks:\n",
        "  - shell: |\n      kafka-topics.sh --create --topic t{n}\n      curl -d '{{\"a\": 1}}' h\n",
    ),
    "map.yaml": ("kind: ConfigMap\ndata:\n", "  a{n}.properties: |\n    transactional.id=a{n}\n"),
    "blocks.yaml": ("x:\n", "  - |\n    transactional.id: a{n}\n"),
    "kustomization.yaml": (
        "kind: Kustomization\npatches:\n",
        "- patch: |\n    kind: Deployment\n    spec: {{replicas: {n}}}\n",
    ),
}


@pytest.mark.parametrize("name", WITHIN)
def test_twice_the_texts_within_a_file_take_twice_the_work(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    head, part = WITHIN[name]
    parsed: list[int] = []
    compose_all = yaml.compose_all
    monkeypatch.setattr(
        yaml, "compose_all", lambda text, **how: (parsed.append(len(text)), compose_all(text, **how))[1]
    )

    def work(count: int) -> tuple[int, int]:
        path.write_text(head + "".join(part.format(n=n) for n in range(count)), "utf-8")
        parsed.clear()
        return bytecodes(lambda: judge(read_deployment((path,)).deployment)), sum(parsed)

    work(1)  # fills the caches
    few, some, many = (work(count) for count in (40, 80, 160))
    for before, middle, after in zip(few, some, many, strict=True):
        assert after - middle < 2.4 * (middle - before)


def test_texts_within_a_file_keep_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "map.yaml"
    path.write_text("kind: ConfigMap\ndata:\n  a.yaml: |\n    b: 1\n    acks: all\n    transactional.id: a\n", "utf-8")
    (producer,) = read_deployment((path,)).deployment.components
    assert (producer.place.line, producer.given["acks"].place.line) == (4, 5)


def test_a_command_with_too_many_rules_is_refused() -> None:
    words = "".join(f"--topic t{n} --allow-principal User:u{n} " for n in range(200))
    with pytest.raises(ConfigFileError, match="adds 40,000 rules"):
        entities_in([(1, f"kafka-acls.sh --add {words}")])
