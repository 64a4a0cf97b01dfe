"""checklist run --ask prompts for every open item, saves each answer immediately, and skips answered items."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.conftest import eosctl

LIST = """
id: ours
title: Ours
purpose: Before it starts.
version: 1
items:
- {id: killed, kind: manual, title: "Was an instance killed?", why: It will be., fix: Kill one.}
- {id: latency, kind: measured, title: "Is it quick?", why: It must be., fix: Tune it., limit: {unit: ms, at_most: 500}}
- {id: told, kind: manual, title: "Does the team know?", why: They are asked., fix: Tell them.}
"""


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    path = tmp_path / "ours.yaml"
    path.write_text(LIST, "utf-8")
    return path


def ask(ours: Path, typed: str) -> tuple[int, dict[str, tuple[str, str]], str]:
    record = ours.with_name("record.json")
    done = eosctl("checklist", "run", ours, "--record", record, "--ask", "--who", "Ada", stdin=typed)
    answers = json.loads(record.read_text("utf-8"))["answers"] if record.exists() else []
    return done.code, {one["item"]: (one["state"], one["evidence"]) for one in answers}, done.err


def test_all_is_asked_and_kept(ours: Path) -> None:
    code, answers, err = ask(ours, "yes: killed two\n480\nn/a\nthere is no team\n")
    assert answers == {
        "killed": ("done", "killed two"),
        "latency": ("done", "480 ms, to be at most 500 ms"),
        "told": ("not-applicable", "there is no team"),
    }
    assert code == 0
    assert "1 of 3  Was an instance killed?" in err
    assert "if not  Tune it." in err


def test_what_is_left_open_is_asked_again_and_nothing_else(ours: Path) -> None:
    code, answers, _ = ask(ours, "\n501\nq\n")
    assert (code, answers) == (3, {"latency": ("failed", "501 ms, to be at most 500 ms")})
    code, answers, err = ask(ours, "yes done\nno: nobody\n")
    assert answers["killed"] == ("done", "done")
    assert answers["told"] == ("failed", "nobody")
    assert "1 of 2" in err
    assert "Is it quick?" not in err


def test_the_end_of_the_input_stops_and_loses_nothing(ours: Path) -> None:
    code, answers, err = ask(ours, "yes killed two\n")
    assert (code, list(answers)) == (4, ["killed"])
    assert "Run the same command again" in err


def test_an_invalid_answer_is_prompted_again(ours: Path) -> None:
    _, answers, err = ask(ours, "maybe\nyes\n\nyes it was\nsoon\n12\n\n")
    assert answers["killed"] == ("done", "it was")
    assert answers["latency"][0] == "done"
    assert "'maybe' does not begin with" in err
    assert "An answer needs a note" in err
    assert "'soon' is not a whole number" in err


def test_answers_need_a_record(ours: Path) -> None:
    done = eosctl("checklist", "run", ours, "--ask")
    assert (done.code, "--record" in done.err) == (2, True)


def test_a_signed_record_is_not_asked_for(ours: Path) -> None:
    ask(ours, "yes a\n1\nyes b\n")
    record = ours.with_name("record.json")
    assert eosctl("checklist", "sign", record, "--checklist", ours, "--who", "Ada").code == 0
    code, _, err = ask(ours, "no: not any more\n")
    assert (code, "is signed" in err) == (2, True)
