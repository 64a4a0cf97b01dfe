"""Variables in Dockerfiles, systemd units, and jobs of Nomad, and topics that scripts create."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.services.lint_configuration import LintRequest, LintResult, lint_configuration

DOCKERFILE = """\
FROM eclipse-temurin:21-jre
# KAFKA_ACKS=0
ENV KAFKA_BOOTSTRAP_SERVERS=kafka:9092 \\
    KAFKA_TRANSACTIONAL_ID="relay 1" \\
    KAFKA_ACKS=1
ENV KAFKA_HOME /opt/kafka
COPY app.jar /app.jar
"""
UNIT = """\
[Service]
Environment=KAFKA_BOOTSTRAP_SERVERS=kafka:9092 KAFKA_TRANSACTIONAL_ID=relay-1
Environment="KAFKA_ACKS=1"
ExecStart=/opt/relay/bin/relay
"""
JOB = """\
job "relay" {
  group "app" {
    count = 3
    task "relay" {
      driver = "docker"
      config { image = "example/relay:3" }
      env {
        KAFKA_BOOTSTRAP_SERVERS = "kafka:9092"
        KAFKA_TRANSACTIONAL_ID  = "relay"
      }
    }
  }
}
"""
SCRIPT = """\
#!/bin/sh
kafka-topics.sh --bootstrap-server kafka:9092 --create --topic ledger \\
  --partitions 12 --replication-factor=1 --config min.insync.replicas=1 || true
kafka-topics --bootstrap-server kafka:9092 --create --if-not-exists --topic audit --partitions 3 --replication-factor 3;
kafka-topics.sh --bootstrap-server kafka:9092 --delete --topic old
echo "done"
"""


def lint(folder: Path, name: str, text: str) -> LintResult:
    (folder / name).write_text(text)
    return lint_configuration(LintRequest((folder,)))


def places(result: LintResult) -> list[tuple[str, int]]:
    return [(one.check_id, int(dict(one.facts)["line"])) for one in result.found]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Dockerfile", DOCKERFILE, [("EOS-CFG-011", 5)]),
        ("relay.Containerfile", DOCKERFILE, [("EOS-CFG-011", 5)]),
        ("relay.service", UNIT, [("EOS-CFG-011", 3)]),
        ("relay.nomad", JOB, [("EOS-CFG-147", 9)]),
        ("topics.sh", SCRIPT, [("EOS-CFG-166", 2)]),
    ],
)
def test_what_starts_programs_is_judged(name: str, text: str, expected: list[tuple[str, int]], tmp_path: Path) -> None:
    assert places(lint(tmp_path, name, text)) == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Dockerfile", "FROM apache/kafka:4.0.0\nENV KAFKA_HOME=/opt/kafka KAFKA_HEAP_OPTS=-Xmx1g\n"),
        ("run.sh", 'kafka-topics.sh --create --topic "unclosed\nkafka-console-producer.sh --topic a\n'),
        ("x.service", "[Unit]\nAfter=kafka.service\n"),
    ],
)
def test_files_that_only_name_kafka_are_left_out(name: str, text: str, tmp_path: Path) -> None:
    result = lint(tmp_path, name, text)
    assert (result.found, result.exit_code.value, result.linted.not_understood) == ((), 0, ())


def test_a_copy_of_cruise_control_is_not_a_broker(tmp_path: Path) -> None:
    result = lint(tmp_path, "clusterConfigs.json", '{"min.insync.replicas": 1}')
    assert (result.found, result.linted.read_as) == ((), ())
