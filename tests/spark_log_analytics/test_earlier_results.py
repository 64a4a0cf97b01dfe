"""A job replaces what an earlier job wrote, and no file of the user's under the same name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eosctl.model.incident import Incident
from spark_log_analytics.earlier_results import foreign_tables, foreign_verdict
from spark_log_analytics.main import main

FENCED = Path(__file__).parents[1] / "fixtures" / "logs" / "second-producer-392"
OWN = json.dumps([dict.fromkeys(Incident._fields, "")])


@pytest.mark.parametrize("content", ["", "[]", OWN, OWN.replace('"kind"', '"added later": 1, "kind"')])
def test_an_earlier_verdict_is_replaced(content: str, tmp_path: Path) -> None:
    file = tmp_path / "incidents.json"
    assert foreign_verdict(file, Incident._fields) == ""
    file.write_text(content)
    assert foreign_verdict(file, Incident._fields) == ""


@pytest.mark.parametrize("content", ["precious", "{}", '[{"kind": "mine"}]', "[1]", "null", "[" * 100_000, "\0"])
def test_a_file_of_another_program_is_not(content: str, tmp_path: Path) -> None:
    file = tmp_path / "incidents.json"
    file.write_text(content)
    assert str(file) in foreign_verdict(file, Incident._fields)


def test_only_tables_of_spark_are_replaced(tmp_path: Path) -> None:
    table = tmp_path / "transaction-v1"
    assert foreign_tables([table]) == ""
    table.mkdir()
    for name in ("part-00000-x.snappy.parquet", ".part-00000-x.snappy.parquet.crc", "_SUCCESS", "._SUCCESS.crc"):
        (table / name).touch()
    assert foreign_tables([table]) == ""
    (table / "notes.md").touch()
    assert str(table / "notes.md") in foreign_tables([table])


def test_neither_a_file_nor_a_link_is_a_table(tmp_path: Path) -> None:
    (tmp_path / "file-v1").touch()
    (tmp_path / "link-v1").symlink_to(tmp_path)
    assert foreign_tables([tmp_path / "file-v1"])
    assert foreign_tables([tmp_path / "link-v1"])


def test_a_scan_leaves_the_file_of_a_user_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "incidents.json").write_text("precious")
    assert main([str(FENCED), "--out", str(tmp_path)]) == 2
    assert (tmp_path / "incidents.json").read_text() == "precious"
    assert "an earlier job did not write it" in capsys.readouterr().err
