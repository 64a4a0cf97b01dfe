"""Variables in files of Compose, and the .env file next to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.checks.judge import judge
from eosctl.findings.linted import findings_of
from eosctl.settings.deployment.deployment_files import read_deployment

COMPOSE = """services:
  writer:
    image: writer:3
    deploy:
      replicas: ${WRITERS}
    environment:
      KAFKA_TRANSACTIONAL_ID: ${TX_ID:-writer}
      KAFKA_ACKS: $LEVEL
      KAFKA_CLIENT_ID: $$HOSTNAME
"""


def _found(folder: Path, variables: str) -> list[str]:
    (folder / "compose.yaml").write_text(COMPOSE, "utf-8")
    (folder / ".env").write_text(variables, "utf-8")
    results = findings_of(judge(read_deployment([folder]).deployment))
    places = ((one.check_id, dict(one.facts)) for one in results)
    return sorted(f"{check} {Path(str(facts['file'])).name}:{facts['line']}" for check, facts in places)


def test_variables_come_from_the_file_next_to_it(tmp_path: Path) -> None:
    assert _found(tmp_path, "WRITERS=3\nLEVEL=1\n") == ["EOS-CFG-011 .env:2", "EOS-CFG-147 compose.yaml:7"]
    assert _found(tmp_path, "WRITERS=1\nLEVEL=all\n") == []


def test_a_variable_without_a_value_is_unknown(tmp_path: Path) -> None:
    assert _found(tmp_path, "OTHER=1\n") == []


def test_a_setting_in_the_file_is_judged_there_alone(tmp_path: Path) -> None:
    text = COMPOSE.replace("$LEVEL", "${KAFKA_ACKS:-1}").replace("${TX_ID:-writer}", "${KAFKA_TRANSACTIONAL_ID}")
    (tmp_path / "compose.yaml").write_text(text, "utf-8")
    (tmp_path / ".env").write_text("KAFKA_TRANSACTIONAL_ID=a\nKAFKA_ACKS=1\n", "utf-8")
    found = findings_of(judge(read_deployment([tmp_path]).deployment))
    assert [(one.check_id, Path(str(dict(one.facts)["file"])).name) for one in found] == [("EOS-CFG-011", ".env")]


@pytest.mark.parametrize(("prefix", "expected"), [("KAFKA_CFG_", set()), ("KAFKA_", {"EOS-CFG-149"})])
def test_variables_show_the_image_that_ships_a_file(tmp_path: Path, prefix: str, expected: set[str]) -> None:
    (tmp_path / "compose.yml").write_text(
        "services:\n  kafka:\n    image: acme/kafka:4\n    env_file: kafka.env\n", "utf-8"
    )
    lines = ("NODE_ID=0", "PROCESS_ROLES=broker,controller", "CONTROLLER_QUORUM_VOTERS=0@kafka:9093")
    (tmp_path / "kafka.env").write_text("".join(f"{prefix}{line}\n" for line in lines), "utf-8")
    found = findings_of(judge(read_deployment([tmp_path]).deployment))
    assert {one.check_id for one in found} == expected


def test_a_variable_of_another_name_belongs_to_its_service(tmp_path: Path) -> None:
    environment = "      KAFKA_PRODUCER_ACKS: ${KAFKA_ACKS}\n      KAFKA_PRODUCER_TRANSACTIONAL_ID: ${TX}\n"
    (tmp_path / "compose.yaml").write_text(f"services:\n  w:\n    image: w:1\n    environment:\n{environment}", "utf-8")
    (tmp_path / ".env").write_text("KAFKA_ACKS=1\nTX=a\n", "utf-8")
    (found,) = findings_of(judge(read_deployment([tmp_path]).deployment))
    facts = dict(found.facts)
    assert (found.check_id, found.severity.value, facts["line"]) == ("EOS-CFG-011", "critical", 1)


ENV_FILES = """services:
  writer:
    image: writer:3
    env_file: [common.env, {path: writer.env}]
    deploy: {replicas: 2}
%s"""


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ("", ["EOS-CFG-011 writer.env:1", "EOS-CFG-147 common.env:1"]),
        ("    environment: [KAFKA_ACKS=all]\n", ["EOS-CFG-147 common.env:1"]),
        ("    environment: {KAFKA_ACKS: all, KAFKA_TRANSACTIONAL_ID: $HOSTNAME}\n", []),
    ],
)
def test_files_of_variables_make_one_environment(tmp_path: Path, environment: str, expected: list[str]) -> None:
    (tmp_path / "compose.yaml").write_text(ENV_FILES % environment, "utf-8")
    (tmp_path / "common.env").write_text("KAFKA_TRANSACTIONAL_ID=writer\nKAFKA_BOOTSTRAP_SERVERS=k:9092\n", "utf-8")
    (tmp_path / "writer.env").write_text("KAFKA_ACKS=1\nKAFKA_CLIENT_ID=w\n", "utf-8")
    results = findings_of(judge(read_deployment([tmp_path]).deployment))
    places = ((one.check_id, dict(one.facts)) for one in results)
    assert sorted(f"{check} {Path(str(f['file'])).name}:{f['line']}" for check, f in places) == expected
