"""A report of thousands of equal incidents shows some of them and counts the others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from eosctl.model.incident import EvidenceLine, Incident
from eosctl.model.severity import Severity
from eosctl.render.logs.floods import SHOWN_OF_A_KIND, shorten_incidents
from eosctl.render.logs.job import incident_lines
from tests.commands.conftest import eosctl

FENCED_COUNT = 30


def fenced(number: int, kind: str = "producer_fenced", severity: Severity = Severity.ERROR) -> Incident:
    return Incident(
        kind=kind,
        root_cause="duplicate-transactional-id",
        severity=severity,
        confidence=0.9,
        subject={"transactional.id": f"t-{number}"},
        t_start_ms=1_700_000_000_000 + number,
        t_end_ms=1_700_000_000_000 + number,
        evidence=(EvidenceLine("client.log", number),),
        explanation="",
        next_step="",
    )


def test_the_first_of_each_kind_and_cause_are_shown() -> None:
    flood = [fenced(number) for number in range(1000)]
    other = fenced(5, kind="unclean_stop", severity=Severity.INFO)
    shortened = shorten_incidents([other, *flood])
    assert shortened.shown == [*flood[:SHOWN_OF_A_KIND], other]
    assert shortened.counted == [flood[SHOWN_OF_A_KIND:]]


def test_a_job_shows_the_first_and_counts_the_others() -> None:
    rows = [{**fenced(number)._asdict(), "severity": "error"} for number in range(1000)]
    lines = list(incident_lines(rows))
    assert len(lines) == SHOWN_OF_A_KIND + 1
    assert lines[0] == "ERROR  producer_fenced: duplicate-transactional-id  transactional.id t-0"
    assert lines[-1].endswith("980 more incidents; the table has all")


@pytest.fixture
def flood(tmp_path: Path) -> Path:
    stamp = "[2026-11-26 {:02d}:{:02d}:00,000]"
    lines: Sequence[str] = [
        f"{stamp.format(*divmod(11 * number, 60))} INFO [TransactionCoordinator id=1] Completed rollback of ongoing "
        f"transaction for transactionalId t-{number} due to timeout "
        "(kafka.coordinator.transaction.TransactionCoordinator)\n"
        for number in range(FENCED_COUNT)
    ]
    path = tmp_path / "server.log"
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize("output_format", ["table", "markdown", "html"])
def test_reports_for_people_are_short(flood: Path, output_format: str) -> None:
    result = eosctl("logs", "report", flood, "-o", output_format)
    assert "10 more incidents transaction_timeout" in result.out.replace("\\", "")
    assert f"t-{SHOWN_OF_A_KIND - 1} at its timeout" in result.out
    assert f"t-{SHOWN_OF_A_KIND} at its timeout" not in result.out


def test_machine_readable_reports_have_all(flood: Path) -> None:
    result = eosctl("logs", "report", flood, "-o", "json")
    assert len(json.loads(result.out)["incidents"]) == FENCED_COUNT


def test_a_name_with_a_line_feed_stays_in_its_line() -> None:
    row = {"severity": "error", "kind": "k", "root_cause": "c", "subject": {"application": "a\n::error::b\x1b[2J"}}
    assert list(incident_lines([row])) == ["ERROR  k: c  application a\\x0a::error::b\\x1b[2J"]
