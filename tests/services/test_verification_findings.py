"""Anomalies as findings: what was not judged is skipped, and the gate decides the exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.errors import ExitCode
from eosctl.findings.diagnosis import CheckStatus
from eosctl.lab.history.events import (
    Drained,
    Ended,
    EndInvoked,
    Event,
    Identified,
    InitInvoked,
    Outcome,
    Polled,
    SendInvoked,
    Sent,
)
from eosctl.lab.verify.plan import VerifyPlan
from eosctl.lab.verify.runs import RunRecord, save_run
from eosctl.model.transaction import TopicPartition
from eosctl.services.gate_options import GateOptions
from eosctl.services.verify_deployment import Verified, check_again

PARTITION = TopicPartition("t", 0)


def history(*, committed: bool) -> tuple[Event, ...]:
    outcome = Outcome.COMMITTED if committed else Outcome.ABORTED
    return (
        InitInvoked(0, "writer", "w"),
        Identified(0, "writer", "w", 1, 0),
        SendInvoked(1, "writer", "w/1", PARTITION, "a"),
        Sent(2, "writer", PARTITION, "a", 0),
        EndInvoked(3, "writer", "w/1", committed=committed),
        Ended(4, "writer", "w/1", outcome),
        Polled(5, "reader", PARTITION, 0, "a"),
        Drained(6, "reader", PARTITION),
    )


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def judged(*, committed: bool = True, unsettled: tuple[str, ...] = (), gate: GateOptions | None = None) -> Verified:
    record = RunRecord(
        run_id="one",
        plan=VerifyPlan(prefix="one", seed=1),
        where={},
        cluster_id="c",
        cluster="a sandbox",
        faults=(),
        fault_kinds=(),
        speaks_end_txn_5=True,
        unsettled=unsettled,
        refused_faults=(),
        left_topics=(),
        began_at_ms=0,
        eosctl_version="0",
    )
    save_run(record, history(committed=committed))
    return check_again("one", gate or GateOptions(require_complete=True))


def statuses(verified: Verified) -> dict[str, CheckStatus]:
    return {one.check_id: one.status for one in verified.judged.diagnosis.results}


def test_a_clean_run_passes_its_evidence_and_skips_the_rest(run: Path) -> None:
    verified = judged()
    found = statuses(verified)
    assert verified.judged.exit_code is ExitCode.DONE
    assert found["verify/aborted-read"] is found["verify/lost-write"] is CheckStatus.PASSED
    assert found["verify/log-divergence"] is found["verify/aborted-offset"] is CheckStatus.SKIPPED
    reason = next(one.reason for one in verified.judged.diagnosis.results if one.check_id == "verify/aborted-offset")
    assert reason == "the run has no offsets in transactions and no offsets of groups"


def test_an_anomaly_is_a_critical_finding_of_its_kind(run: Path) -> None:
    verified = judged(committed=False)
    (finding,) = (one for one in verified.judged.diagnosis.findings if one.check_id == "verify/aborted-read")
    assert verified.judged.exit_code is ExitCode.FINDINGS
    assert finding.commands[0].line == "eosctl verify replay one"
    rules = run / ".eosctl.yaml"
    rules.write_text(
        "suppressions:\n"
        + "".join(f"- {{id: {one.check_id}, reason: known}}\n" for one in verified.judged.diagnosis.findings)
    )
    assert judged(committed=False, gate=GateOptions()).judged.exit_code is ExitCode.DONE


def test_a_run_that_decides_nothing_passes_no_check(run: Path) -> None:
    verified = judged(unsettled=("a reader did not get to the end",))
    assert verified.judged.exit_code is ExitCode.INCOMPLETE
    assert set(statuses(verified).values()) == {CheckStatus.SKIPPED}
    lenient = judged(unsettled=("a reader did not get to the end",), gate=GateOptions())
    assert lenient.judged.exit_code is ExitCode.DONE
