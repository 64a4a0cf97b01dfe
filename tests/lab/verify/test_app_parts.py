"""Marks, mappings, the verdict about applications, and the command where it writes nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.errors import UsageError
from eosctl.lab.history.events import Outcome
from eosctl.lab.history.feed import FedRecord, Feed, SeenRecord
from eosctl.lab.verify.app_report import judge_app
from eosctl.lab.verify.expression import compile_mapping
from eosctl.lab.verify.report import Verdict
from eosctl.lab.verify.tags import Found, TagFinder, fill_template, make_tag
from eosctl.model.transaction import TopicPartition
from eosctl.testing import SandboxThread
from tests.commands.conftest import Done, eosctl

pytestmark = pytest.mark.usefixtures("own_home")

IN, OUT = TopicPartition("in", 0), TopicPartition("out", 0)


@given(st.integers(0, 10**9), st.integers(0, 10**6), st.binary(max_size=40), st.binary(max_size=40))
def test_a_mark_is_found_in_any_surroundings(number: int, key: int, before: bytes, after: bytes) -> None:
    value = before + b" " + make_tag("17", number, key).encode() + b" " + after
    assert TagFinder("17").find(value) == Found(number, is_intact=True)
    assert TagFinder("18").find(value) is None


def test_a_mark_survives_capitals_and_other_places() -> None:
    tag = make_tag("17", 3, 4).encode()
    assert TagFinder("17").find(b"", tag.upper()) == Found(3, True)
    assert TagFinder("17").find(None, None, b"x" + tag) == Found(3, True)


@given(st.data())
def test_a_changed_mark_is_not_intact(data: st.DataObject) -> None:
    tag = make_tag("17", 123, 4)
    at = data.draw(st.integers(len("eosctl-17-"), len(tag) - 1))
    changed = tag[:at] + data.draw(st.sampled_from([c for c in "0123456789" if c != tag[at]])) + tag[at + 1 :]
    found = TagFinder("17").find(changed.encode())
    assert found is None or not found.is_intact


def test_a_template_is_filled() -> None:
    filled = fill_template('{"id": "{tag}", "n": {number}, "k": "{key}"}', "17", 3, 4)
    assert filled == f'{{"id": "{make_tag("17", 3, 4)}", "n": 3, "k": "key-4"}}'


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1", [1, 1, 1]),
        ("number % 3 != 0", [0, 1, 1]),
        ("2 if number == 1 else 1", [1, 2, 1]),
        ("not number", [1, 0, 0]),
        ("(number > 0) * 3 + key", [7, 10, 10]),
        ("number // 2 or 5", [1, 1, 1]),
        ("number >= 1 and 4", [0, 1, 1]),
    ],
)
def test_a_mapping_counts_outputs(text: str, values: list[int]) -> None:
    expected = compile_mapping(text)
    assert [expected(number, 7) for number in range(3)] == values


@pytest.mark.parametrize(
    "text",
    [
        *("", "__import__('os')", "number.real", "(lambda: 1)()", "[1]", "'a' * 9", "1.5", "other", "number ** 9"),
        *("1 << 99", "open('x')", "1 +", "9" * 500, "number if", "f'{number}'", "-1", "10**9", "key[0]", "1 // number"),
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        compile_mapping(text)


def feed(outputs: int, outcome: Outcome = Outcome.COMMITTED) -> Feed:
    seen = [SeenRecord(1_000 + offset, 0, OUT, offset) for offset in range(outputs)]
    return Feed([FedRecord(0, 0, 0, IN, 0, outcome)], seen)


def test_verdicts_about_applications() -> None:
    clean = judge_app(feed(1), lambda _: 1)
    assert (clean.verdict, clean.p50_ms) == (Verdict.CLEAN, 1_000)
    twice = judge_app(feed(2), lambda _: 1)
    assert (twice.verdict, dict(twice.flaw_counts)) == (Verdict.ANOMALIES, {"duplicated": 1})
    assert "1 duplicated of 1 inputs" in twice.headline


def test_an_application_that_does_nothing_decides_nothing() -> None:
    silent = judge_app(feed(0), lambda _: 1)
    assert silent.verdict is Verdict.UNDECIDED
    assert "does the application run" in silent.headline
    unwritten = judge_app(feed(0, Outcome.ABORTED), lambda _: 1)
    assert "not a single input was committed" in unwritten.headline


def app(kafka: SandboxThread, *arguments: str) -> Done:
    return eosctl("verify", "app", "-b", kafka.bootstrap, "--read", "t-in", "--write", "t-out", *arguments)


def test_without_consent_only_the_plan_is_shown(kafka: SandboxThread) -> None:
    done = app(kafka, "--inputs", "77")
    assert (done.code, done.out) == (0, "")
    assert "plan: write 77 inputs to t-in" in done.err
    assert "such as: eosctl-" in done.err
    assert "add: --yes" in done.err


def test_a_protected_profile_asks_for_the_topic(kafka: SandboxThread) -> None:
    assert eosctl("profile", "add", "live", "--protected", "--bootstrap-server", kafka.bootstrap).code == 0
    done = eosctl("verify", "app", "--profile", "live", "--read", "t-in", "--write", "t-out", "--yes")
    assert done.code == 2
    assert "--confirm t-in" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--yes",), "Unknown topic 't-in'"),
        (("--template", "no mark"), "--template has no {tag}"),
        (("--mapping", "import os"), "cannot be used"),
    ],
)
def test_what_cannot_be_tested_is_refused(kafka: SandboxThread, arguments: tuple[str, ...], message: str) -> None:
    done = app(kafka, *arguments)
    assert done.code == 2
    assert message in done.err
    same = eosctl("verify", "app", "-b", kafka.bootstrap, "--read", "t", "--write", "t")
    assert same.code == 2
    assert "same topic" in same.err
