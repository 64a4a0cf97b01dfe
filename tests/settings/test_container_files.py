"""Configurations that containers read: named where they are not among the files, and judged where they are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from eosctl.checks.judge import judge
from eosctl.errors import ExitCode
from eosctl.findings.linted import findings_of
from eosctl.services.gate_options import GateOptions
from eosctl.services.lint_configuration import LintRequest, LintResult, lint_configuration
from eosctl.settings.deployment.deployment_files import read_deployment

POD = """apiVersion: apps/v1
kind: StatefulSet
metadata: {name: kafka}
spec:
  template:
    spec:
      containers:
        - name: kafka
          image: %s
          command: %s
          volumeMounts:
            - {name: config, mountPath: %s}
      volumes:
        - {name: config, configMap: {name: kafka-config}}
"""
MAP = """apiVersion: v1
kind: ConfigMap
metadata: {name: kafka-config}
data:
  server.properties: |
    node.id=1
    process.roles=broker
    log.dirs=/d
"""
STARTED = POD % ("acme/kafka:1", '["kafka-server-start.sh", "/etc/kafka/server.properties"]', "/etc/kafka")
COMPOSE = "services:\n  kafka:\n    image: %s\n"
MOUNT = COMPOSE % "acme/k:1" + "    volumes: ['./own.properties:/conf/server.properties:ro']\n"
BROKER = "node.id=1\nprocess.roles=broker\nlog.dirs=/d\n"


def unseen(folder: Path, files: Mapping[str, str]) -> list[tuple[int, str]]:
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    return [(one.place.line, one.reads) for one in read_deployment([folder]).unseen]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (STARTED, [(10, "/etc/kafka/server.properties")]),
        (POD % ("acme/kafka:1", "[run.sh]", "/conf/broker.properties"), [(12, "/conf/broker.properties")]),
        (POD % ("a:1", "[connect-distributed.sh]", "/x"), [(10, "the configuration of connect-distributed.sh")]),
        (COMPOSE % "apache/kafka:4.1.0", [(3, "the configuration in the image apache/kafka:4.1.0")]),
        (MOUNT, [(4, "/conf/server.properties")]),
        (COMPOSE % "apache/kafka:4.1.0" + "    command: kafka-topics.sh --create --topic a\n", []),
        (COMPOSE % "apache/kafka:4.1.0" + "    environment: {KAFKA_NODE_ID: 1, KAFKA_PROCESS_ROLES: broker}\n", []),
        (COMPOSE % "provectuslabs/kafka-ui:1", []),
        (COMPOSE % "acme/k:1" + "    volumes: ['./log4j.properties:/conf/log4j.properties']\n", []),
    ],
)  # fmt: skip
def test_configurations_that_are_not_among_the_files(
    tmp_path: Path, text: str, expected: list[tuple[int, str]]
) -> None:
    assert unseen(tmp_path, {"docker-compose.yml": text}) == expected


@pytest.mark.parametrize(
    "files", [{"a.yaml": STARTED, "b.yaml": MAP}, {"compose.yml": MOUNT, "own.properties": BROKER}]
)
def test_configurations_among_the_files_are_seen(tmp_path: Path, files: Mapping[str, str]) -> None:
    assert unseen(tmp_path, files) == []


def lint(folder: Path, *, is_complete: bool) -> LintResult:
    return lint_configuration(LintRequest((folder,), gate=GateOptions(require_complete=is_complete)))


def test_an_unseen_configuration_prevents_an_all_clear(tmp_path: Path) -> None:
    (tmp_path / "kafka.yaml").write_text(STARTED, "utf-8")
    assert lint(tmp_path, is_complete=False).exit_code is ExitCode.INCOMPLETE
    (tmp_path / "server.properties").write_text(BROKER, "utf-8")
    result = lint(tmp_path, is_complete=False)
    assert (result.exit_code, len(result.linted.unseen)) == (ExitCode.DONE, 1)
    assert lint(tmp_path, is_complete=True).exit_code is ExitCode.INCOMPLETE


OVERRIDDEN = STARTED.replace('/etc/kafka/server.properties"]', '/etc/kafka/server.properties", --override, %s]')


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (OVERRIDDEN % "unclean.leader.election.enable=true", 10),
        (STARTED.replace('"kafka-server-start.sh", "/etc/kafka/server.properties"',
                         'sh, -c, "kafka-server-start.sh /s --override unclean.leader.election.enable=true"'), 10),
    ],
)  # fmt: skip
def test_an_override_of_the_command_counts_over_the_file(tmp_path: Path, text: str, line: int) -> None:
    (tmp_path / "a.yaml").write_text(text, "utf-8")
    (tmp_path / "b.yaml").write_text(MAP.replace("log.dirs", "unclean.leader.election.enable=false\n    log.dirs"))
    found = [dict(one.facts) for one in findings_of(judge(read_deployment([tmp_path]).deployment))]
    assert [(Path(str(f["file"])).name, f["line"], f["keys"]) for f in found] == [
        ("a.yaml", line, "unclean.leader.election.enable")
    ]


@pytest.mark.parametrize(
    "text",
    [
        (POD % ("acme/kafka:1", "[]", "/x")).replace("          command: []\n", ""),
        COMPOSE % "solsson/kafka:native-zookeeper-server-start",
    ],
)
def test_a_patch_and_an_image_of_zookeeper_read_nothing(tmp_path: Path, text: str) -> None:
    assert unseen(tmp_path, {"docker-compose.yml": text}) == []
