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
from tests.logs.test_company import COORDINATOR, MAILER, got

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


def at(time_ms: int) -> str:
    return f"{datetime.fromtimestamp(time_ms / 1000, UTC):%Y-%m-%d %H:%M:%S},{time_ms % 1000:03}"


def neighbor(kind: str, time_ms: int) -> dict[str, str]:
    """Return the log of a server that has a fault of its own at a time."""
    if kind == "restart":
        words = ["shutting down", "shut down completed", "started"]
        lines = [
            f"[{at(time_ms - 30_000 + 9_000 * number)}] INFO [KafkaServer id=7] {text} (kafka.server.KafkaServer)\n"
            for number, text in enumerate(words)
        ]
        signal = f"[{at(time_ms - 31_000)}] INFO Terminating process due to signal SIGTERM (a.LoggingSignalHandler)\n"
        return {"kafka-7/server.log": signal + "".join(lines)}
    if kind == "crash":
        text = "Fencing broker 77 because its session has timed out. (org.apache.kafka.controller.X)"
        return {"controller/server.log": f"[{at(time_ms - 1_000)}] INFO [QuorumController id=100] {text}\n"}
    lines = [
        (
            time_ms - 90_000,
            "Initialized transactionalId other-1 with producerId 8001 and producer epoch 3 on partition 1",
        ),
        (time_ms - 500, "Completed rollback of ongoing transaction for transactionalId other-1 due to timeout"),
    ]
    record = COORDINATOR.replace("[2026-11-20 {}]", "[{}]")
    return {"kafka-9/server.log": "".join(record.format(at(moment), text) for moment, text in lines)}


REPORTS = {report.name: report for report in read_reports()}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("rust producer in an inconsistent state", "crash"),
        ("rust producer in an inconsistent state", "restart"),
        ("aiokafka producer fenced", "crash"),
        ("aiokafka producer fenced", "restart"),
        ("js: producer id mapping in KafkaJS", "crash"),
        ("connect commit not confirmed", "restart"),
        ("state topic below min isr", "rollback"),
        ("zookeeper session of a broker expires", "rollback"),
        ("flink cannot commit after a restore", "rollback"),
    ],
)
def test_a_fault_of_a_server_hides_no_other_fault(name: str, kind: str, tmp_path: Path) -> None:
    report = REPORTS[name]
    found = judge(tmp_path / "alone", report.files)
    together = judge(tmp_path / "together", {**report.files, **neighbor(kind, found[0].t_start_ms)})
    alone = confidences(report, found)
    assert all(one >= before > 0 for one, before in zip(confidences(report, together), alone, strict=True))


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
