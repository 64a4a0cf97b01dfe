"""The linter finds errors, and the library has none."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.checks.registry import ALL_CHECKS
from eosctl.errors import ConfigFileError
from eosctl.model.runbook import Action, Runbook
from eosctl.runbooks.changes import CHANGES
from eosctl.runbooks.expression import evaluate, fill, parse_condition
from eosctl.runbooks.lint import lint_runbook
from eosctl.runbooks.load import library, parse_runbook
from eosctl.runbooks.refused import REFUSED, find_refused
from tests.commands.conftest import eosctl

HEAD = """
format: eosctl/v1
id: planted
title: Planted
about: A runbook with one flaw.
symptoms: [planted]
inputs: {topic: {about: A topic, default: ""}}
steps:
"""
LOOK = "  - {id: look, type: probe, say: Looking., run: partitions}\n"
ELECT = "run: leaders.elect, verify: {run: partitions, until: after.displaced == 0}"
FENCE = "run: txn.fence, with: {transactional_id: a}, verify: {run: partitions, until: after.count > 0}"

FLAWS = {
    "unknown probe": (
        "  - {id: a, type: probe, say: A., run: nothing, next: verified}\n",
        "Unknown probe 'nothing'",
    ),
    "unknown action": (
        LOOK + "  - {id: a, type: action, say: A., run: x, verify: {run: brokers, until: after.count > 0}}\n",
        "Unknown action 'x'",
    ),
    "unknown target": ("  - {id: a, type: probe, say: A., run: brokers, next: nowhere}\n", "There is no step nowhere"),
    "no end": (LOOK, "leads nowhere"),
    "circle": ("  - {id: a, type: probe, say: A., run: brokers, next: a}\n", "No path from here ends"),
    "unreachable": (
        "  - {id: a, type: probe, say: A., run: brokers, next: verified}\n  - {id: b, type: notify, say: B.}\n",
        "No step leads here",
    ),
    "unknown fact": (
        '  - {id: a, type: probe, say: "{{a.nonsense}}", run: brokers, next: verified}\n',
        "does not report nonsense",
    ),
    "fact of one path": (
        "  - {id: a, type: probe, say: A., run: brokers, branch: [{when: a.count > 1, goto: c}]}\n"  # noqa: ISC004
        "  - {id: b, type: probe, say: B., run: brokers}\n"
        '  - {id: c, type: notify, say: "{{b.count}}"}\n',
        "b.count is not known on every path",
    ),
    "unknown input": ('  - {id: a, type: notify, say: "{{inputs.nothing}}"}\n', "There is no input nothing"),
    "unknown argument": (
        "  - {id: a, type: probe, say: A., run: brokers, with: {x: 1}, next: verified}\n",
        "brokers takes no x",
    ),
    "missing argument": ("  - {id: a, type: probe, say: A., run: group, next: verified}\n", "group needs group"),
    "unconfirmed": (
        LOOK + f"  - {{id: a, type: action, say: A., {FENCE}, next: verified}}\n",
        "is not confirmed on every path",
    ),
    "confirmed on one path": (
        "  - {id: look, type: probe, say: A., run: brokers, branch: [{when: look.count > 1, goto: a}]}\n"  # noqa: ISC004
        "  - {id: ask, type: confirm, say: A?, expect: a}\n"
        f"  - {{id: a, type: action, say: A., {FENCE}, next: verified}}\n",
        "is not confirmed on every path",
    ),
    "unverified": (
        LOOK + "  - {id: a, type: action, say: A., run: leaders.elect, verify: {run: brokers, until: look.count > 0}, "
        "next: verified}\n",
        "does not use any fact that is read afterwards",
    ),
    "code": (
        "  - {id: a, type: assert, say: A., that: \"__import__('os')\", why: A, next: verified}\n",
        "is not a condition",
    ),
    "taken id": (LOOK + LOOK, "The id look is taken"),
    "outcome as id": (
        "  - {id: failed, type: probe, say: A., run: brokers, next: verified}\n",
        "The id failed is taken",
    ),
    "destruction": (
        "  - {id: a, type: manual, say: 'Run kafka-topics.sh --delete --topic __transaction_state'}\n",
        "forgets every producer id",
    ),
    "more partitions": (
        "  - {id: a, type: manual, say: 'kafka-topics.sh --alter --topic __transaction_state --partitions 100'}\n",
        "the hash of the id",
    ),
}


def planted(steps: str) -> Runbook:
    return parse_runbook(HEAD + steps, "planted.yaml").book


@pytest.mark.parametrize("name", FLAWS)
def test_a_planted_flaw_is_found(name: str) -> None:
    steps, told = FLAWS[name]
    assert told in " ".join(flaw.message for flaw in lint_runbook(planted(steps)))


def test_the_same_runbook_without_a_flaw_passes() -> None:
    assert lint_runbook(planted(LOOK + f"  - {{id: a, type: action, say: A., {ELECT}, next: verified}}\n")) == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("steps: [", "is not a runbook"),
        ("a: &a [*a]", "is not a runbook"),
        (HEAD + "  - {id: a, type: shell, say: A., run: rm}\n", "shell"),
        (HEAD + "  - {id: a, type: notify, say: A., riks: none}\n", "riks"),
        (HEAD + "  - {id: A-1, type: notify, say: A.}\n", "regex"),
        ("", "is not a runbook"),
    ],
)
def test_an_invalid_runbook_is_refused_with_the_place(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(text)
    done = eosctl("runbook", "lint", path)
    assert (done.code, done.out) == (2, "")
    assert told in done.err


def test_flaws_are_listed_and_a_flawed_runbook_is_not_run(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(HEAD + FLAWS["unconfirmed"][0])
    done = eosctl("runbook", "lint", path, "-o", "json")
    assert (done.code, [item["step"] for item in done.json["items"]]) == (3, ["a"])
    refused = eosctl("runbook", "run", path, "-b", "127.0.0.1:1", "--yes")
    assert (refused.code, refused.out) == (2, "")
    assert "is not in order" in refused.err


def test_the_library_is_without_a_flaw_and_knows_where_it_leads() -> None:
    books = {source.book.id: source.book for source in library()}
    assert len(books) >= 30
    used: set[str] = set()
    for source in library():
        assert lint_runbook(source.book) == ()
        assert source.name == f"{source.book.id}.yaml"
        used |= {step.run for step in source.book.steps if isinstance(step, Action)}
    assert used == {change.name for change in CHANGES}
    assert {refused.runbook for refused in REFUSED} - {""} <= books.keys()


def test_findings_that_lead_to_runbooks_exist() -> None:
    known = {check.id for check in ALL_CHECKS}
    assert {found for source in library() for found in source.book.findings} <= known


def test_a_new_runbook_is_in_order(tmp_path: Path) -> None:
    path = tmp_path / "My Own 1.yaml"
    assert eosctl("runbook", "new", path).code == 0
    assert eosctl("runbook", "lint", path).code == 0
    assert "id: my-own-1\n" in path.read_text()
    again = eosctl("runbook", "new", path)
    assert again.code == 2
    assert "exists" in again.err
    assert eosctl("runbook", "new", tmp_path / "book.txt").code == 2


@pytest.mark.parametrize(
    "text",
    [
        "kafka-topics.sh --bootstrap-server b:9092 --delete --topic __transaction_state",
        "Stop the applications, delete the topic __transaction_state and restart the brokers",
        "kafka-configs.sh --alter --entity-type topics --entity-name __transaction_state --add-config num.partitions=9",
        "kafka-topics.sh --alter --topic __consumer_offsets --partitions 100",
        "increase the partitions of the transaction log",
        "rm -rf /var/lib/streams/app/0_1/*",
        "clear the task directory",
        "kafka-consumer-groups.sh --bootstrap-server b:9092 --delete --group app",
        "set min.insync.replicas=1 until the broker is back",
        "unclean.leader.election.enable=true",
    ],
)
def test_destructive_procedures_are_rejected_with_a_safe_one(text: str) -> None:
    (first, *_) = find_refused(text)
    assert first.why
    assert first.instead
    done = eosctl("diagnose", text)
    assert done.code == 3
    assert "REFUSED" in done.out


@pytest.mark.parametrize(
    "text", ["consumer stuck", "describe __transaction_state", "delete the test topic orders", "restart the broker"]
)
def test_harmless_words_are_not_refused(text: str) -> None:
    assert find_refused(text) == ()


KNOWN = {"a": {"n": 3, "t": "x", "b": True}}


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("a.n > 2 and a.t == 'x'", True),
        ("not a.b", False),
        ("a.n >= 4 or a.b", True),
        ("a.t != 3", True),
        ("(a.n == 3 and not (a.n < 1)) or a.t == ''", True),
    ],
)
def test_conditions(condition: str, holds: bool) -> None:
    assert evaluate(condition, KNOWN) is holds


@pytest.mark.parametrize(
    "text", ["a.n +", "open('x')", "a.n ** 9", "a.b.c", "[1]", "a", "lambda: 1", "1 < 2 < 3", "a.t < 2"]
)
def test_nothing_else_is_a_condition(text: str) -> None:
    with pytest.raises(ConfigFileError):
        evaluate(text, KNOWN)


@given(st.text(alphabet=string.ascii_letters + string.digits + " .()'\"<>=!+-*/[]{}:,\\\n\t\0", max_size=600))
def test_any_text_is_a_condition_or_an_error_of_ours(text: str) -> None:
    try:
        parse_condition(text)
    except ConfigFileError:
        return


def test_templates_keep_types_and_do_not_nest() -> None:
    assert fill("{{ a.n }}", KNOWN) == 3
    assert fill("{{a.n}} of {{a.t}}", KNOWN) == "3 of x"
    assert fill("{{a.t}}", {"a": {"t": "{{a.n}}"}}) == "{{a.n}}"
    with pytest.raises(ConfigFileError, match="known of a"):
        fill("{{a.z}}", KNOWN)
