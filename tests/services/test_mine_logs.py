"""Logs through the Python API: events, incidents, exit codes, and errors before anything is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.errors import ConfigFileError, EosctlError, ExitCode, UsageError
from eosctl.model.period import Period
from eosctl.model.severity import Severity
from eosctl.services.callbacks import Callbacks
from eosctl.services.count_exceptions import ExceptionsRequest, count_exceptions
from eosctl.services.follow_logs import FollowRequest, follow_logs
from eosctl.services.gate_options import GateOptions
from eosctl.services.judge_logs import judge_logs
from eosctl.services.log_categories import check_categories, log_categories
from eosctl.services.log_engine import EngineChoice, takes_spark
from eosctl.services.mine_logs import MineRequest, mine_logs, report_logs
from eosctl.services.stopwatch import Stopwatch

FENCED = (
    "[2026-11-21 09:00:00,000] INFO [Producer clientId=p] Instantiated a transactional producer. (o.a.k.P)\n"
    "[2026-11-21 09:00:05,000] ERROR Task failed (org.example.Task)\n"
    "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same transactionalId\n"
    "[2026-11-21 09:00:06,000] ERROR Something nobody knows (org.example.Task)\n"
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "app.log"
    path.write_text(FENCED, "utf-8")
    return path


def test_events_and_incidents_are_found(log: Path) -> None:
    steps: list[str] = []
    mined = mine_logs(MineRequest((log,)), Callbacks(progress=steps.append))
    assert "PRODUCER_FENCED" in {event.category for event in mined.findings.events}
    assert mined.exit_code is ExitCode.DONE
    assert any(str(log) in step for step in steps)


def test_categories_choose_events_and_nothing_else(log: Path) -> None:
    every = mine_logs(MineRequest((log,)))
    some = mine_logs(MineRequest((log,), categories=("producer_fenced",)))
    assert {event.category for event in some.findings.events} == {"PRODUCER_FENCED"}
    assert len(some.findings.events) < len(every.findings.events)
    assert some.findings.incidents == every.findings.incidents


def test_the_zone_moves_time_stamps(log: Path) -> None:
    utc, berlin = (mine_logs(MineRequest((log,), zone=zone)).findings.events[0] for zone in ("UTC", "Europe/Berlin"))
    assert (utc.time_ms or 0) - (berlin.time_ms or 0) == 3_600_000


def test_the_period_chooses_events(log: Path) -> None:
    mined = mine_logs(MineRequest((log,), zone="UTC", period=Period(4_000_000_000_000, None)))
    assert mined.findings.events == ()


def test_what_the_baseline_has_is_not_new(log: Path, tmp_path: Path) -> None:
    calm = tmp_path / "calm.log"
    calm.write_text(FENCED.splitlines(keepends=True)[-1], "utf-8")
    alone, compared = report_logs(MineRequest((log,))), report_logs(MineRequest((log,)), [calm])
    assert alone.mined.findings.events == compared.mined.findings.events
    assert alone.digest != compared.digest


def test_the_gate_decides_the_exit_code(log: Path, tmp_path: Path) -> None:
    rules, missing = tmp_path / "rules.yaml", tmp_path / "missing.log"
    rules.write_text("suppressions: [{id: logs/producer_fenced, reason: planned}]\n", "utf-8")
    strict = GateOptions(Severity.INFO)
    every, some = judge_logs(MineRequest((log,)), strict), judge_logs(MineRequest((log,)), strict._replace(rules=rules))
    assert (judge_logs(MineRequest((log,))).exit_code, every.exit_code) == (ExitCode.DONE, ExitCode.FINDINGS)
    assert [reason for _, reason in some.report.diagnosis.suppressed] == ["planned"]
    assert (len(every.report.findings.incidents), some.report.findings.incidents) == (1, ())
    rules.write_text("fail_on: worse\n", "utf-8")
    with pytest.raises(ConfigFileError):
        judge_logs(MineRequest((missing,)), GateOptions(rules=rules))


def test_a_file_without_log_records_is_incomplete(tmp_path: Path) -> None:
    other = tmp_path / "notes.log"
    other.write_text("a shopping list\n", "utf-8")
    assert mine_logs(MineRequest((other,))).exit_code is ExitCode.INCOMPLETE


@pytest.mark.parametrize(
    "change",
    [{"zone": "Nowhere"}, {"pattern": "%Q{"}, {"categories": ("NOPE",)}, {"paths": (Path("missing.log"),)}],
    ids=["zone", "pattern", "category", "path"],
)
def test_what_cannot_be_read_is_refused(log: Path, change: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        mine_logs(MineRequest(**({"paths": (log,)} | change)))  # type: ignore[arg-type]


def test_categories_have_names_in_any_case() -> None:
    assert check_categories(["Unclassified"]) == {"UNCLASSIFIED"}
    assert len(log_categories()) > 10
    with pytest.raises(EosctlError, match="NOPE"):
        check_categories(["NOPE"])


def test_small_logs_are_read_here_without_a_word(log: Path) -> None:
    remarks: list[str] = []
    assert not takes_spark(EngineChoice.AUTO, [log], remarks.append)
    assert takes_spark(EngineChoice.SPARK, [log], remarks.append)
    assert remarks == []


def test_stack_traces_are_counted(log: Path) -> None:
    counted = count_exceptions(ExceptionsRequest((log,), zone="UTC"))
    assert [(one.event_count, Path(one.file)) for one in counted.counts] == [(1, log)]
    assert counted.unread == {}


def test_what_is_written_meanwhile_is_followed(log: Path) -> None:
    now, pauses = [0.0], [0.0]

    def pause(seconds: float) -> None:
        """Let a writer append once, and time pass."""
        if now[0] == 0:
            with log.open("a", encoding="utf-8") as file:
                file.write(FENCED)
        pauses.append(seconds)
        now[0] += 1

    request = FollowRequest((log,), categories=("PRODUCER_FENCED",), interval_ms=50, idle_ms=0, seconds=2)
    batches = follow_logs(request, stopwatch=Stopwatch(lambda: now[0], pause))
    events = [one.event for batch in batches for one in batch]
    assert [event.category for event in events] == ["PRODUCER_FENCED"]
    assert events[0].offset > len(FENCED)
    assert pauses[1:] == [0.05, 0.05]
