"""Verdicts, hints, drawing of faults, permission to disturb, and runs on disk."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.errors import ConfigFileError, DecodeError, UsageError
from eosctl.lab.history.anomaly import Kind
from eosctl.lab.history.events import Undrained
from eosctl.lab.verify.plan import FaultRange, PlannedFault, VerifyPlan, draw_faults
from eosctl.lab.verify.report import Verdict, judge
from eosctl.lab.verify.runs import RunRecord, load_run, save_run
from eosctl.lab.verify.safety import check_may_disturb
from eosctl.model.transaction import TopicPartition
from tests.lab.history.mutations import mutate
from tests.lab.history.synthetic import clean_history

RANGES = (FaultRange("kill", (1, 2, 3)), FaultRange("slow", (0,), (10, 20), (5, 9)))


def test_a_clean_history_is_evidence_and_not_proof() -> None:
    report = judge(clean_history(1))
    assert report.verdict is Verdict.CLEAN
    assert re.fullmatch(r"no anomaly in \d+ transactions, 0 faults; this is evidence, not proof", report.headline)
    assert report.coverage is None


def test_a_history_without_commits_is_inconclusive() -> None:
    report = judge(())
    assert report.verdict is Verdict.UNDECIDED
    assert "not a single transaction was committed" in report.headline


def test_an_unsettled_run_may_be_wrong_but_never_clean() -> None:
    history = clean_history(2)
    assert judge(history, unsettled=["chain did not finish"]).verdict is Verdict.UNDECIDED
    broken = mutate(Kind.ABORTED_READ, history, random.Random(1))
    assert judge(broken, unsettled=["chain did not finish"]).verdict is Verdict.ANOMALIES


def test_a_late_end_is_suspected_of_clients_that_can_have_one() -> None:
    broken = mutate(Kind.EARLY_READ, clean_history(1), random.Random(1))
    assert [hint.bug_id for hint in judge(broken, speaks_end_txn_5=False).hints] == ["KAFKA-17754"]
    assert judge(broken, speaks_end_txn_5=True).hints == ()


def test_hanging_transactions_and_lost_offsets_have_their_hints() -> None:
    hanging = (*clean_history(1), Undrained(9_999, "auditor", TopicPartition("orders", 0), 3, 5))
    assert [hint.bug_id for hint in judge(hanging).hints] == ["KAFKA-20734"]
    lost = mutate(Kind.LOST_OFFSET, clean_history(1), random.Random(1))
    assert "KAFKA-17507" in [hint.bug_id for hint in judge(lost).hints]


@given(st.integers(0, 10_000), st.integers(0, 60_000), st.integers(1, 5_000))
def test_faults_follow_each_other_within_the_run(seed: int, span_ms: int, gap_ms: int) -> None:
    faults = draw_faults(RANGES, random.Random(seed), span_ms, gap_ms)
    assert faults == draw_faults(RANGES, random.Random(seed), span_ms, gap_ms)
    end = 0
    for fault in faults:
        assert fault.at_ms >= end
        end = fault.at_ms + fault.duration_ms
        drawn = next(one for one in RANGES if one.kind == fault.kind)
        assert fault.target in drawn.targets
        assert drawn.amount[0] <= fault.amount <= drawn.amount[1]
    assert end <= max(span_ms, 0)


def test_every_kind_is_drawn_as_often_as_any_other() -> None:
    kinds = [fault.kind for fault in draw_faults(RANGES, random.Random(1), 600_000, 500)]
    assert abs(kinds.count("kill") - kinds.count("slow")) <= 1
    assert len(kinds) > 100


def test_without_ranges_there_are_no_faults() -> None:
    assert draw_faults((), random.Random(1), 10_000, 100) == ()


def test_our_own_cluster_may_be_disturbed() -> None:
    check_may_disturb("id", is_ours=True, owned_id=None, protected_profile=None, what="Disturbing it")


def test_a_foreign_cluster_is_disturbed_only_under_its_own_id() -> None:
    check_may_disturb("id", is_ours=False, owned_id="id", protected_profile=None, what="Disturbing it")
    with pytest.raises(UsageError, match="did not start this cluster") as refused:
        check_may_disturb("id", is_ours=False, owned_id=None, protected_profile=None, what="Disturbing it")
    assert "--i-own-this-cluster id" in refused.value.next_step
    with pytest.raises(UsageError, match="is id, not other"):
        check_may_disturb("id", is_ours=False, owned_id="other", protected_profile=None, what="Disturbing it")


@pytest.mark.parametrize("ours", [True, False])
def test_a_protected_profile_is_never_disturbed(ours: bool) -> None:
    with pytest.raises(UsageError, match="Profile live is protected"):
        check_may_disturb("id", is_ours=ours, owned_id="id", protected_profile="live", what="Disturbing it")


RECORD = RunRecord(
    run_id="1-2",
    plan=VerifyPlan("v", 2),
    where={"engine": "embedded", "brokers": 3},
    cluster_id="c",
    cluster="a sandbox",
    faults=(PlannedFault(1, 2, "kill", 3),),
    fault_kinds=("kill",),
    speaks_end_txn_5=True,
    unsettled=(),
    refused_faults=(),
    left_topics=(),
    began_at_ms=1,
    eosctl_version="1",
)


def test_a_run_is_read_as_it_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    history = clean_history(4)
    folder = save_run(RECORD, history)
    for name in ("1-2", str(folder)):
        record, events = load_run(name)
        assert (record, tuple(events)) == (RECORD, history)
    assert folder.stat().st_mode & 0o077 == 0


def test_an_unknown_run_is_named_with_those_that_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with pytest.raises(UsageError, match="no run 'x'") as refused:
        load_run("x")
    assert "holds none" in refused.value.why
    save_run(RECORD, ())
    with pytest.raises(UsageError) as refused:
        load_run("x")
    assert "1-2" in refused.value.why


def test_damaged_runs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = save_run(RECORD, clean_history(1))
    text = (folder / "history.jsonl").read_text()
    (folder / "history.jsonl").write_text(text[:-20])
    with pytest.raises(DecodeError, match="of the history is not an event"):
        load_run("1-2")
    for content in (b"", b"[]", b"\xff", b'{"run_id": 1}'):
        (folder / "run.json").write_bytes(content)
        with pytest.raises(ConfigFileError, match="cannot be read"):
            load_run("1-2")
