"""Reports as users post them, with the right answers: cause, subject, severity, and start."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from eosctl.model.incident import Incident
from tests.logs.judging import judge
from tests.logs.test_company import MAILER, got

COMPANY = {"mailer.log": MAILER, "broker-9/server.log": got("11:00:00,000", "other-1", 8001, 0)}
FOLDER = Path(__file__).parents[1] / "fixtures" / "log-reports"


class Report(NamedTuple):
    """A report: its name, the patterns of each answer, and its files."""

    name: str
    answers: list[list[str]]
    files: dict[str, str]


def read_reports() -> Iterator[Report]:
    for source in sorted(FOLDER.glob("*.txt")):
        for part in source.read_text("utf-8").split("=== ")[1:]:
            head, *files = part.split("\n@@ ")
            name, *answers = head.splitlines()
            answers = [answer for answer in answers if answer.startswith("?? ")]
            yield Report(
                name,
                [answer.removeprefix("?? ").strip().split(" && ") for answer in answers],
                {file.partition("\n")[0]: f"{file.partition(chr(10))[2]}\n" for file in files},
            )


def described(one: Incident) -> str:
    facts = {**one._asdict(), "evidence": [place.file for place in one.evidence]}
    return json.dumps({**facts, "t_start": datetime.fromtimestamp(one.t_start_ms / 1000, UTC).isoformat()})


@pytest.mark.parametrize("report", list(read_reports()), ids=lambda report: report.name)
def test_a_report_gets_the_right_answers(report: Report, tmp_path: Path) -> None:
    found = [described(one) for one in judge(tmp_path, report.files)]
    assert bool(found) == bool(report.answers), found
    for answer in report.answers:
        assert any(all(re.search(pattern, one) for pattern in answer) for one in found), (answer, found)


def confidences(report: Report, found: list[Incident]) -> list[float]:
    """Return how sure the surest incident of each answer is; 0 for an answer that none gives."""
    return [
        max((one.confidence for one in found if all(re.search(part, described(one)) for part in answer)), default=0)
        for answer in report.answers
    ]


@pytest.mark.parametrize("report", list(read_reports()), ids=lambda report: report.name)
def test_a_report_keeps_its_answers_in_company(report: Report, tmp_path: Path) -> None:
    alone = confidences(report, judge(tmp_path / "alone", report.files))
    for name, text in COMPANY.items():
        found = judge(tmp_path / name, {**report.files, name: text})
        assert all(one >= before > 0 for one, before in zip(confidences(report, found), alone, strict=True))
        assert bool(found) == bool(report.answers)
