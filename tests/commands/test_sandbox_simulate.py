"""``sandbox simulate``: what it prints, when it fails, and what it leaves behind."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from eosctl.lab.history.check import check_history
from eosctl.lab.history.encoding import decode_history
from tests.commands.conftest import eosctl
from tests.lab.planted import aborts_commit
from tests.lab.test_bugs_are_found import KAFKA_17507, search

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "schemas" / "simulations.json").read_text())
SIMULATE = ("sandbox", "simulate", "--seeds", "1")


def test_schedules_that_hold_are_counted(tmp_path: Path) -> None:
    kept = tmp_path / "history.jsonl"
    done = eosctl(*SIMULATE, "--first-seed", "3", "--plan", "crashes", "--history", str(kept), "-o", "json")
    assert done.code == 0, done.err
    jsonschema.validate(done.json, SCHEMA)
    item = done.json["items"][0]
    assert (item["seed_count"], item["failures"]) == (1, [])
    assert sum(item["faults"].values()) > 0
    history = decode_history(kept.read_text().splitlines())
    assert len(history) == item["event_count"]
    assert check_history(history) == ()


def test_a_failing_schedule_is_shown_with_proof_and_replay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    aborts_commit(monkeypatch)  # needs no fault, and every writer aborts now and then
    done = eosctl(*SIMULATE, "--first-seed", "2", "--plan", "none")
    assert done.code == 3
    assert "Seed 2: " in done.out
    assert "aborted-read: " in done.out
    assert "none: it fails without any" in done.out
    assert "goes well" not in done.out  # without a known bug it fails, too
    assert "Polled actor" in done.out
    assert "eosctl sandbox simulate --plan none --emulate 4.4 --first-seed 2 --seeds 1" in done.out
    machine = eosctl(*SIMULATE, "--first-seed", "2", "--plan", "none", "-o", "json")
    assert machine.code == 3
    jsonschema.validate(machine.json, SCHEMA)
    (failure,) = machine.json["items"][0]["failures"]
    assert "aborted-read" in {anomaly["kind"] for anomaly in failure["anomalies"]}
    assert len(failure["minimised"]) <= len(failure["schedule"])


def test_an_enabled_bug_is_named_by_what_passes_without_it() -> None:
    found = search(KAFKA_17507.plan, KAFKA_17507.symptoms, KAFKA_17507.seed)
    release = ("--emulate", "3.9", "--plan", "none", "--bug", "zombie-txn-offset-commit=off")
    seed = ("--first-seed", str(found.seed), "--config", "delete.topic.enable=true")  # Kafka's default
    done = eosctl(*SIMULATE, *release, *seed, "--bug", "kafka-17507", "-o", "json")
    assert done.code == 3, done.err
    jsonschema.validate(done.json, SCHEMA)
    item = done.json["items"][0]
    assert item["bugs"] == {"high-watermark-truncation": False, "kafka-17507": True, "zombie-txn-offset-commit": False}
    assert item["failures"][0]["passes_with"] == ["--bug kafka-17507=off"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--plan", "chaos"), "There is no plan 'chaos'"),
        (("--emulate", "2.8"), "is not known"),
        (("--clients", "tv9"), "is not known"),
        (("--emulate", "3.9", "--clients", "tv2"), "has no transaction version 2"),
        (("--bug", "kafka-17507"), "cannot have kafka-17507"),
        (("--bug", "kafka-1"), "Unknown bug"),
        (("--bug", "kafka-20734=maybe"), "is not NAME, NAME=on or NAME=off"),
        (("--config", "min.insync.replicas"), "is not KEY=VALUE"),
        (("--history", "/nowhere/at/all"), "Cannot write"),
    ],
)
def test_what_cannot_be_played_is_refused(options: tuple[str, str], reason: str) -> None:
    done = eosctl(*SIMULATE, *options)
    assert done.code == (1 if "--history" in options else 2)
    assert reason in done.err
    assert "Traceback" not in done.err
