"""Judging grows linearly with the documents of a file, measured in bytecodes, not in seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from benchmarks.hot_paths import bytecodes
from eosctl.checks.judge import judge
from eosctl.errors import ConfigFileError
from eosctl.settings.deployment_files import read_deployment
from eosctl.settings.kafka_commands import entities_in

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


def test_a_command_with_too_many_rules_is_refused() -> None:
    words = "".join(f"--topic t{n} --allow-principal User:u{n} " for n in range(200))
    with pytest.raises(ConfigFileError, match="adds 40,000 rules"):
        entities_in([(1, f"kafka-acls.sh --add {words}")])
