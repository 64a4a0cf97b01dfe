"""Findings of profiles and files for tests: what tests alone run with is information."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from eosctl.services.lint_configuration import LintRequest, lint_configuration

BASE: Final = "spring.kafka.producer:\n  transaction-id-prefix: pay-${HOSTNAME}-\n"
RANDOM: Final = "spring.kafka.producer:\n  transaction-id-prefix: t-${random.uuid}-\n"
STREAMS: Final = "spring.kafka.streams:\n  application-id: pay\n  properties: {processing.guarantee: exactly_once_v2}\n"
ONE: Final = "spring.kafka.streams:\n  replication-factor: 1\n"


def found(folder: Path, **files: str) -> list[tuple[str, str]]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    findings = lint_configuration(LintRequest((folder,))).found
    return [(one.check_id, one.severity.value) for one in findings if one.check_id in ("EOS-CFG-045", "EOS-CFG-038")]


@pytest.mark.parametrize(
    "file",
    [
        "src/main/resources/application-test.yml",
        "src/main/resources/application-integration-test.yaml",
        "src/test/resources/application.yml",
        "src/integrationTest/resources/application.yml",
    ],
)
def test_a_random_id_of_tests_is_information(file: str, tmp_path: Path) -> None:
    assert found(tmp_path, **{"src/main/resources/application.yml": BASE, file: RANDOM}) == [("EOS-CFG-045", "info")]


@pytest.mark.parametrize("file", ["application-prod.yml", "application-latest.yml", "application-attest.yml"])
def test_a_random_id_of_other_profiles_is_a_warning(file: str, tmp_path: Path) -> None:
    assert found(tmp_path, **{"application.yml": BASE, file: RANDOM}) == [("EOS-CFG-045", "warning")]


def test_a_document_of_a_profile_for_tests(tmp_path: Path) -> None:
    text = f"{BASE}---\nspring.config.activate.on-profile: test\n{RANDOM}"
    assert found(tmp_path, **{"application.yml": text}) == [("EOS-CFG-045", "info")]


def test_an_id_of_all_profiles_stays_a_warning(tmp_path: Path) -> None:
    files = {"application.yml": RANDOM, "application-test.yml": "spring.kafka.bootstrap-servers: localhost:9092\n"}
    assert set(found(tmp_path, **files)) == {("EOS-CFG-045", "warning")}


def test_one_replica_of_tests_is_information(tmp_path: Path) -> None:
    files = {"application.yml": STREAMS, "application-test.yml": ONE}
    assert found(tmp_path, **files) == [("EOS-CFG-038", "info")]


def test_one_replica_of_all_profiles_is_an_error(tmp_path: Path) -> None:
    files = {"application.yml": STREAMS + "  replication-factor: 1\n", "application-test.yml": BASE}
    assert set(found(tmp_path, **files)) == {("EOS-CFG-038", "error")}


@pytest.mark.parametrize(("profile", "severity"), [("dev", "info"), ("local", "info"), ("prod", "error")])
def test_one_replica_of_developers_is_information(profile: str, severity: str, tmp_path: Path) -> None:
    files = {"application.yml": STREAMS, f"application-{profile}.yml": ONE}
    assert found(tmp_path, **files) == [("EOS-CFG-038", severity)]
