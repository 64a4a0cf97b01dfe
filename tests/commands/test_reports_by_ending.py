"""A report next to the result: one run, and the format of the file's ending."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.conftest import eosctl

BAD = "transactional.id=payments\nenable.idempotence=false\nbootstrap.servers=kafka-1:9092\n"


@pytest.mark.parametrize(
    ("ending", "begins"),
    [(".json", "{"), (".xml", "<?xml"), (".md", "#"), (".html", "<!doctype html>"), (".report", "<!doctype html>")],
)
def test_the_ending_of_a_report_is_its_format(ending: str, begins: str, tmp_path: Path) -> None:
    (tmp_path / "producer.properties").write_text(BAD)
    report = tmp_path / f"report{ending}"
    done = eosctl("config", "lint", tmp_path / "producer.properties", "-o", "github", "--report", report)
    assert done.code == 3
    assert done.out.startswith("::notice title=eosctl config lint::1 finding (1 critical)")
    assert report.read_text("utf-8").lower().startswith(begins)


def test_a_sarif_report_has_the_findings_of_the_result(tmp_path: Path) -> None:
    (tmp_path / "producer.properties").write_text(BAD)
    report = tmp_path / "eosctl.SARIF"
    done = eosctl("config", "lint", tmp_path / "producer.properties", "-o", "sarif", "--report", report)
    assert json.loads(done.out) == json.loads(report.read_text("utf-8"))
