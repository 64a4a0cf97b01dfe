"""Arguments of Flink jobs, wherever a job is started."""

from __future__ import annotations

import pytest

from tests.settings.test_deployment_files import findings

OPERATOR = """apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {name: tolls}
spec:
  flinkConfiguration:
    execution.checkpointing.interval: %s
    taskmanager.numberOfTaskSlots: "2"
  job:
    jarURI: local:///opt/job.jar
    args:
      - --source.group.id
      - tolls
      - --transaction.timeout.ms
      - "600000"
"""
CONTAINER = """services:
  jobmanager:
    image: tolls:1
    command: standalone-job --job-classname a.B --checkpoint-interval-ms %s
      --delivery-guarantee exactly-once --transactional-id-prefix tolls --transaction-timeout-ms 600000
"""
SCRIPT = """#!/bin/sh
# flink run --transaction.timeout.ms 1
./bin/flink run -Dexecution.checkpointing.interval=%s -c a.B job.jar \\
  --input tolls --sink.transaction.timeout.ms=600000
"""


@pytest.mark.parametrize(
    ("file", "text", "late", "early", "line"),
    [
        ("job.yaml", OPERATOR, "20min", "10s", 14),
        ("compose.yaml", CONTAINER, "1200000", "10000", 4),
        ("start.sh", SCRIPT, "20min", "10s", 4),
    ],
)
def test_a_timeout_in_arguments_is_compared(file: str, text: str, late: str, early: str, line: int) -> None:
    assert findings((file, text % late)) == [f"EOS-CFG-084 {file}:{line}"]
    assert findings((file, text % early)) == []


def test_a_source_in_arguments_is_judged_by_what_they_set() -> None:
    text = OPERATOR % "10s" + "      - --source.isolation.level\n      - read_uncommitted\n"
    assert findings(("job.yaml", text)) == ["EOS-CFG-020 job.yaml:16"]


def test_arguments_of_another_program_are_not_a_job() -> None:
    text = "services:\n  app: {image: a, command: run --transaction.timeout.ms 600000 --checkpoint-interval 20min}\n"
    assert findings(("compose.yaml", text)) == []
