"""doctor --watch: what is new, what stands, what is gone; failed looks; the end by Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from msgspec.structs import replace

from eosctl.checks.declaration import Case
from eosctl.checks.registry import ALL_CHECKS
from eosctl.checks.runner import diagnose
from eosctl.findings.grouping import group_findings
from eosctl.findings.watching import Look, failed, follow
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.render.diagnosis.watch import look_item, render_look
from eosctl.testing import SandboxThread
from tests.checks.cases import build
from tests.commands.conftest import eosctl
from tests.findings.test_grouping import without_broker_3

PATIENCE_S = 120
WELL = build({})
ILL = without_broker_3(WELL)


def looked(before: Look | None, snapshot: ClusterSnapshot, at_ms: int) -> Look:
    snapshot = replace(snapshot, captured_at_ms=at_ms)
    diagnosis = diagnose(ALL_CHECKS, Case(snapshot))
    return follow(before, diagnosis, group_findings(diagnosis.findings, snapshot), at_ms)


def test_changes_are_shown() -> None:
    first = looked(None, WELL, 1_800_000_001_000)
    second = looked(first, ILL, 1_800_000_031_000)
    third = looked(second, ILL, 1_800_000_061_000)
    fourth = looked(third, WELL, 1_800_000_091_000)
    assert [(len(look.standing), len(look.gone)) for look in (first, second, third, fourth)] == [
        (0, 0),
        (len(second.standing), 0),
        (len(second.standing), 0),
        (0, len(second.standing)),
    ]
    assert all(one.is_new for one in second.standing)
    assert not any(one.is_new for one in third.standing)
    assert {one.since_ms for one in third.standing} == {1_800_000_031_000}
    assert fourth.scores == (100, second.scores[-1], second.scores[-1], 100)
    text = render_look(third, 10)
    assert "30 s" in text
    assert "EOS-" in text
    assert "gone: " in render_look(fourth, 10)
    assert look_item(second).findings[0].is_new


def test_findings_of_the_first_poll_are_not_new() -> None:
    assert not any(one.is_new for one in looked(None, ILL, 1).standing)


def test_a_cause_that_becomes_a_symptom_is_not_gone() -> None:
    first = looked(None, ILL, 1)
    cause = first.standing[0].group.cause
    diagnosis = diagnose(ALL_CHECKS, Case(ILL))
    others = [group for group in group_findings(diagnosis.findings, ILL) if group.cause != cause]
    assert follow(first, diagnosis, others, 2).gone == ()


def test_a_failed_look_keeps_what_stood() -> None:
    before = looked(None, ILL, 1)
    look = failed(before, "Nobody answers.", 2_000)
    assert [one.group for one in look.standing] == [one.group for one in before.standing]
    assert (look.scores[-1], look.gone) == (None, ())
    assert "Nobody answers." in render_look(look, 5)
    again = looked(look, ILL, 3_000)
    assert {one.since_ms for one in again.standing} == {1}
    assert render_look(failed(None, "Nobody answers.", 1), 5).count("\n") == 1


def create_topic_at_min_isr(bootstrap: str) -> None:
    topic = NewTopic("few", 1, 1, config={"min.insync.replicas": "2"})
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for created in admin.create_topics([topic]).values():
        created.result(PATIENCE_S)


def test_looks_on_a_cluster() -> None:
    with SandboxThread(brokers=1) as cluster:
        create_topic_at_min_isr(cluster.bootstrap)
        watch = ("doctor", "--watch", "--interval", "10ms", "-b", cluster.bootstrap)
        done = eosctl(*watch, "--count", 2, "-o", "json")
        first, second = [json.loads(line) for line in done.out.splitlines()]
        table = eosctl(*watch, "--count", 1, "--fail-on", "warning")
    assert {item["check_id"] for item in second["findings"]} >= {"EOS-TOP-006", "EOS-BRK-012"}
    assert second["findings"][0]["since"] == first["at"]
    assert (done.code, table.code) == (0, 3)
    assert "EOS-TOP-006" in table.out


@pytest.mark.parametrize(
    "more", [("--logs", "."), ("--snapshot", "s.json"), ("--report", "r.html"), (".",), ("-o", "yaml")]
)
def test_only_what_changes_is_watched(more: tuple[str, ...], tmp_path: Path) -> None:
    done = eosctl("doctor", "--watch", "-b", "127.0.0.1:1", *more)
    assert done.code == 2, done.err


def test_count_needs_watch() -> None:
    done = eosctl("doctor", "--count", 2, "-b", "127.0.0.1:1")
    assert (done.code, "--watch" in done.err) == (2, True)


def test_an_interrupt_ends_it_without_a_trace() -> None:
    with SandboxThread(brokers=1) as cluster:
        command = [sys.executable, "-m", "eosctl", "doctor", "--watch", "-o", "json", "-b", cluster.bootstrap]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            assert process.stdout is not None
            assert json.loads(process.stdout.readline())["grade"]
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
            process.wait(PATIENCE_S)
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
    assert process.returncode == 130
    assert b"Traceback" not in err
