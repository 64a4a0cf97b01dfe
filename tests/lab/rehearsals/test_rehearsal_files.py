"""Invalid rehearsals, and rehearsals that do not end as expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.errors import ConfigFileError, UsageError
from eosctl.lab.rehearsals.rehearsal import parse_rehearsal, rehearsals
from eosctl.lab.rehearsals.rehearse import Performance, rehearse
from eosctl.lab.rehearsals.steps.registry import STEPS
from eosctl.runbooks.load import find_runbook, parse_runbook
from eosctl.runbooks.ways import ways_of
from tests.commands.conftest import eosctl

HEAD = "format: eosctl/v1\nrunbook: hanging-transaction\nscenarios:\n"
SCENARIO = "  - name: a\n    ends: {outcome: no-action, step: look}\n"


def played(body: str, runbook: str = "hanging-transaction") -> Performance:
    (scenario,) = parse_rehearsal(HEAD + body, "test").scenarios
    return rehearse(find_runbook(runbook).book, scenario)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a rehearsal"),
        ("scenarios: [", "is not a rehearsal"),
        (HEAD + "  - name: a\n", "ends"),
        (HEAD + SCENARIO + "    givn: []\n", "givn"),
        (HEAD + SCENARIO + "    cluster: {brokers: 0}\n", "brokers"),
        (HEAD + SCENARIO + "    cluster: {release: '2.8'}\n", "release"),
        (HEAD + "  - name: a\n    ends: {outcome: fine, step: look}\n", "fine"),
    ],
)
def test_invalid_rehearsals_are_refused_with_the_place(text: str, message: str) -> None:
    with pytest.raises(ConfigFileError) as caught:
        parse_rehearsal(text, "own.scenarios.yaml")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"do": "fly"}, "Unknown step 'fly'"),
        ({}, "Unknown step ''"),
        ({"do": "kill_broker"}, "broker"),
        ({"do": "kill_broker", "broker": "two"}, "int"),
        ({"do": "kill_broker", "broker": 1, "hard": True}, "hard"),
    ],
)
def test_an_impossible_step_is_rejected_before_the_start(step: dict[str, object], message: str) -> None:
    with pytest.raises((ConfigFileError, UsageError)) as caught:
        STEPS.bind(step, "in")
    assert message in str(caught.value)


def test_every_step_has_a_docstring_of_one_line() -> None:
    assert all(doing.__doc__ and "\n" not in doing.__doc__ for doing in STEPS.values())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("  - name: a\n    ends: {outcome: verified, step: look}\n", "ended no-action at look and not verified"),
        ("  - name: a\n    ends: {outcome: no-action, step: look, says: nonsense}\n", "lacks 'nonsense'"),
        (SCENARIO + "    people: [{at: ask_abort}]\n", "never reached ask_abort"),
        (SCENARIO + "    given: [{do: write, id: app}, {do: commit_offset, group: app, offset: 99}]\n", "EOS-GRP-004"),
        (SCENARIO + "    given: [{do: hang, in: other}]\n", "no cluster other"),
        (
            SCENARIO + "    afterwards: [{do: write, id: app}, {do: commit_offset, group: app, offset: 9}]\n",
            "EOS-GRP-004",
        ),
    ],
)
def test_a_scenario_with_another_end_fails(body: str, message: str) -> None:
    if "in: other" in body:
        with pytest.raises(ConfigFileError, match=message):
            played(body)
        return
    assert message in played(body).failure


def test_a_scenario_without_a_required_input_is_refused() -> None:
    with pytest.raises(UsageError, match="lacks the input group"):
        played(SCENARIO, "consumer-stuck")


def test_a_scenario_is_reproducible() -> None:
    (scenario, *_) = rehearsals()["hanging-transaction"].scenarios
    book = find_runbook("hanging-transaction").book
    assert rehearse(book, scenario) == rehearse(book, scenario)


def test_a_new_runbook_has_examples_and_reports_untaken_paths(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    assert eosctl("runbook", "new", path).code == 0
    scenarios = path.with_suffix(".scenarios.yaml")
    done = eosctl("runbook", "test", path, "-o", "json")
    assert (done.code, done.json["items"][0]["untaken"]) == (0, []), done.out
    assert "4 of 4 scenarios passed" in eosctl("runbook", "test", path).out

    whole = parse_rehearsal(scenarios.read_text(), "own")
    first = scenarios.read_text().index("  - name: a broker was restarted")
    scenarios.write_text(scenarios.read_text()[:first])
    poor = eosctl("runbook", "test", path, "-o", "json")
    (item,) = poor.json["items"]
    assert [one["failure"] for one in item["stories"]] == [""]
    assert (poor.code, item["way_count"]) == (3, len(ways_of(parse_runbook(path.read_text(), "own").book)))
    assert "elect: verified" in item["untaken"]
    table = eosctl("runbook", "test", path)
    assert (table.code, "not taken elect: verified" in table.out) == (3, True)
    assert eosctl("runbook", "test", path, "--scenario", "well").code == 0
    assert eosctl("runbook", "test", path, "--scenario", "nonsense").code == 2
    for form in ("wide", "tsv", "yaml"):
        assert eosctl("runbook", "test", path, "-o", form).code == 3

    former = path.with_suffix(".stories.yaml")
    former.write_text(scenarios.read_text().replace("scenarios:", "stories:"))
    scenarios.unlink()
    assert eosctl("runbook", "test", path, "--story", "well").code == 0
    former.unlink()
    bare = eosctl("runbook", "test", path)
    assert (bare.code, bare.out) == (2, "")
    assert "own.scenarios.yaml" in bare.err
    assert len(whole.scenarios) == 4


def test_the_page_lists_every_step() -> None:
    page = (Path(__file__).parents[3] / "docs" / "runbooks" / "rehearsals.md").read_text()
    rows = {line.split("`")[1]: line for line in page.splitlines() if line.startswith("| `") and line.count("|") == 4}
    assert sorted(rows.keys() & STEPS.keys()) == sorted(STEPS)
    assert [name for name, doing in STEPS.items() if (doing.__doc__ or "") not in rows[name]] == []
