"""Brokers that pipelines start next to their jobs, and commands of Kafka's tools in their scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.services.lint_configuration import LintRequest, LintResult, lint_configuration

GITLAB = """\
variables:
  KAFKA_NODE_ID: "1"
.kafka:
  variables: {KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: "1"}
  services:
    - name: apache/kafka:3.9.0
      alias: kafka
      variables:
        KAFKA_PROCESS_ROLES: broker,controller
        KAFKA_CONTROLLER_QUORUM_VOTERS: 1@localhost:9093
        KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: "%s"
        KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: "1"
test:
  extends: .kafka
  script: [mvn verify]
"""
OF_JOB = """\
default: {image: maven:3}
test:
  extends: .broker
  variables:
    KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: "%s"
    KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: "1"
    KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: "1"
  services: ["confluentinc/cp-kafka:7.6.0"]
.broker:
  variables:
    KAFKA_PROCESS_ROLES: broker,controller
    KAFKA_CONTROLLER_QUORUM_VOTERS: 1@localhost:9093
"""
BITBUCKET = """\
definitions:
  services:
    kafka:
      image: apache/kafka:3.9.0
      variables:
        KAFKA_PROCESS_ROLES: broker,controller
        KAFKA_CONTROLLER_QUORUM_VOTERS: 1@localhost:9093
        KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: %s
        KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: 1
        KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
"""
CIRCLE = """\
jobs:
  test:
    docker:
      - image: cimg/openjdk:21.0
      - image: confluentinc/cp-kafka:7.6.0
        environment:
          KAFKA_BROKER_ID: 1
          KAFKA_ZOOKEEPER_CONNECT: localhost:2181
          KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: %s
          KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: 1
          KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
"""
GITHUB = """\
jobs:
  test:
    env: {SPRING_KAFKA_PRODUCER_TRANSACTION_ID_PREFIX: a-, SPRING_KAFKA_PRODUCER_ACKS: "all"}
    services:
      kafka:
        image: apache/kafka:3.9.0
        env:
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@localhost:9093
          KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: %s
          KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: 1
          KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
"""
WOODPECKER = """\
services:
  - name: kafka
    image: apache/kafka:3.9.0
    environment:
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@localhost:9093
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: %s
      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: 1
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
"""


def lint(folder: Path, name: str, text: str) -> LintResult:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return lint_configuration(LintRequest((folder,)))


def places(result: LintResult) -> list[tuple[str, int]]:
    return [(one.check_id, int(dict(one.facts)["line"])) for one in result.found]


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        (".gitlab-ci.yml", GITLAB, 11),
        ("ci/test.gitlab-ci.yml", OF_JOB, 5),
        ("bitbucket-pipelines.yml", BITBUCKET, 8),
        (".circleci/config.yml", CIRCLE, 9),
        ("workflow.yml", GITHUB, 10),
        (".woodpecker.yml", WOODPECKER, 7),
    ],
)
def test_the_one_broker_of_a_job_is_judged(name: str, text: str, line: int, tmp_path: Path) -> None:
    assert places(lint(tmp_path, name, text % 3)) == [("EOS-CFG-149", line)]
    assert places(lint(tmp_path, name, text % 1)) == []


def test_variables_of_a_job_are_judged_next_to_services(tmp_path: Path) -> None:
    text = GITHUB.replace('PRODUCER_ACKS: "all"', "PRODUCER_ACKS: 1") % 1
    assert places(lint(tmp_path, ".github/workflows/test.yml", text)) == [("EOS-CFG-011", 3)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".gitlab-ci.yml", "topics:\n  script:\n    - echo\n    - %s\n"),
        (".github/workflows/a.yml", "jobs:\n  topics:\n    steps:\n      - run: %s\n"),
        ("azure-pipelines.yml", "steps:\n- bash: |\n    set -e\n    %s\n"),
    ],
)
def test_commands_of_jobs_are_judged(name: str, text: str, tmp_path: Path) -> None:
    command = "kafka-topics.sh --create --topic a --partitions 3 --replication-factor 3 --config min.insync.replicas=3"
    assert places(lint(tmp_path, name, text % command)) == [("EOS-CFG-033", 4)]
