"""sandbox scenario list, show, and run: the verdict, and the errors for invalid files."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from eosctl.lab.scenarios.load import library
from tests.commands.conftest import eosctl
from tests.commands.test_sandbox import ROOT, up

SCRIPT = """
name: mine
title: Mine
happens: A record is written.
matters: It should be there.
sees: It.
steps:
  - {do: topic, name: orders}
  - {do: plain, to: orders, values: [a]}
  - {do: sees, of: orders, values: [a]}
"""


def validate(result: object, shape: str) -> None:
    jsonschema.validate(result, json.loads((ROOT / "docs" / "schemas" / f"{shape}.json").read_text()))


def test_every_scenario_is_listed_and_can_be_shown() -> None:
    listed = eosctl("sandbox", "scenario", "list", "-o", "json")
    validate(listed.json, "scenarios")
    assert [item["name"] for item in listed.json["items"]] == list(library())
    shown = eosctl("sandbox", "scenario", "show", "zombie")
    assert (shown.code, shown.err) == (0, "")
    for script in (library()["zombie"],):
        assert script.title in shown.out
        assert "(refused: PRODUCER_FENCED)" in shown.out


def test_a_run_ends_with_a_verdict() -> None:
    done = eosctl("sandbox", "scenario", "run", "zombie", "--steps", "-o", "json")
    assert done.code == 0
    validate(done.json, "scenario-verdict")
    (item,) = done.json["items"]
    assert item["holds"] is True
    assert done.err.count("\n") == len(item["steps"])  # each step was printed when it completed
    again = eosctl("sandbox", "scenario", "run", "zombie", "-o", "json")
    assert again.json["items"] == done.json["items"]


def test_a_scenario_with_another_outcome_exits_with_3(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(SCRIPT)
    assert eosctl("sandbox", "scenario", "run", path).code == 0
    path.write_text(SCRIPT.replace("of: orders, values: [a]", "of: orders, values: [b]"))
    done = eosctl("sandbox", "scenario", "run", path)
    assert done.code == 3
    assert "['a']  <- NOT" in done.out
    assert "NOT as expected: 1 of 1." in done.out


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("do: plain", "do: plane", "Step 2 of"),
        ("to: orders", "into: orders", "Step 2 of"),
        ("values: [a]}\n  - {do: sees", "values: a}\n  - {do: sees", "Step 2 of"),
        ("do: plain, to", "do: plain, refused: [NOPE], to", "NOPE is not a Kafka error"),
        ("title:", "titel:", "is not a scenario"),
        ("steps:", "findings: {silent: [EOS-TXN-999]}\nsteps:", "Unknown check 'EOS-TXN-999'"),
        ("do: plain, to: orders, values: [a]", "do: doctor, fire: [EOS-TXN-01]", "Unknown check 'EOS-TXN-01'"),
        ("steps:\n", "steps: [\n", "is not a scenario"),
        ("{do: topic, name: orders}", "{do: fault, words: explode}", "Unknown fault 'explode'"),
    ],
)
def test_an_invalid_scenario_is_reported_with_its_place(tmp_path: Path, before: str, after: str, message: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(SCRIPT.replace(before, after))
    done = eosctl("sandbox", "scenario", "run", path)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert "Traceback" not in done.err


def test_what_cannot_be_run_says_what_can(tmp_path: Path) -> None:
    for arguments, message in (
        (["run"], "needs a name"),
        (["run", "nonsense"], "List them: eosctl sandbox scenario list"),
        (["run", str(tmp_path / "none.yaml")], "Cannot read"),
        (["run", "kafka-17754", "--engine", "apache"], "cannot be played on real Kafka"),
        (["run", "zombie", "--engine", "apache", "--name", "x"], "Omit one"),
        (["run", "zombie", "--name", "nobody"], "eosctl sandbox up"),
    ):
        done = eosctl("sandbox", "scenario", *arguments)
        assert (done.code, done.out) == (2, ""), arguments
        assert message in done.err


def test_a_live_sandbox_is_played_on_if_it_is_fit() -> None:
    done = up("--brokers", "1", "--ephemeral", "--ttl", "5m", "--fast")
    assert done.code == 0, done.err
    try:
        unfit = eosctl("sandbox", "scenario", "run", "kafka-17507-a", "--name", "default")
        assert unfit.code == 2
        assert "--brokers 3 --emulate 3.9 --bug kafka-17507" in unfit.err
        assert eosctl("sandbox", "scenario", "run", "txn-timeout", "--name", "default").code == 0
        assert eosctl("sandbox", "scenario", "interleave").code == 0
    finally:
        eosctl("sandbox", "down", "--all")


@pytest.mark.parametrize("name", ["partial-markers", "min-isr-loss"])
def test_a_live_sandbox_is_judged_by_its_own_clock(name: str) -> None:
    assert up("--brokers", "3", "--ephemeral", "--ttl", "10m").code == 0
    try:
        eosctl("sandbox", "advance", "1h")
        done = eosctl("sandbox", "scenario", "run", name, "--name", "default")
        assert done.code == 0, done.out
    finally:
        eosctl("sandbox", "down", "--all")
