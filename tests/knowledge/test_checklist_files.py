"""The checklists themselves, and what evidence answers of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from eosctl.checks.checklist import PROBES, answer_automatically, judge_measure, unanswered, unknown_references
from eosctl.checks.checklist_subjects import SUBJECTS, Seen
from eosctl.checks.declaration import Case
from eosctl.checks.registry import ALL_CHECKS, CATALOG
from eosctl.checks.runner import diagnose
from eosctl.errors import ConfigFileError
from eosctl.findings.diagnosis import CheckResult, CheckStatus, Diagnosis, Grade
from eosctl.findings.finding import Finding
from eosctl.knowledge.checklist_files import parse_checklist, read_record, shipped_checklists
from eosctl.model.checklist import Checklist, ChecklistItem, ItemKind, ItemState
from eosctl.model.deployment import Component, Deployment, Place, Role
from eosctl.model.severity import Severity
from eosctl.model.verdict import Resource
from tests.checks.cases import build
from tests.render.unhappy_cluster import unhappy_cluster

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "eosctl" / "knowledge" / "checklists"
SHIPPED = shipped_checklists()
AT = "2026-01-01T00:00:00.000Z"
EXPECTED = {
    "application-design",
    "broker-upgrade",
    "capacity-review",
    "client-upgrade-eos-v2",
    "dr-drill",
    "enable-tv2",
    "eos-diagnosis",
    "eos-go-live",
    "hardware",
    "incident-review",
    "kraft-migration",
    "security-review",
}
AUTOMATIC = [
    pytest.param(checklist, item, id=f"{checklist.id}/{item.id}")
    for checklist in SHIPPED
    for item in checklist.items
    if item.kind is ItemKind.AUTOMATIC
]


def result(check_id: str, status: CheckStatus, severity: Severity | None = None) -> CheckResult:
    found = () if severity is None else (Finding(check_id, "", severity, Resource("topic", "t"), "it is so"),)
    return CheckResult(check_id, "", "", status, found, reason="r")


def diagnosis(*results: CheckResult) -> Diagnosis:
    return Diagnosis("c", 0, results, Grade("-", 0))


NOTHING = Seen(None, Deployment())
"""What a run without a cluster and without files has seen."""


def unbound(checklist: Checklist) -> Checklist:
    """Return the list without the subjects that its items must have seen."""
    return replace(checklist, items=tuple(replace(item, sees=()) for item in checklist.items))


def state(checklist: Checklist, item: ChecklistItem, *results: CheckResult) -> ItemState | None:
    answers = {one.item: one for one in answer_automatically(unbound(checklist), diagnosis(*results), NOTHING, AT)}
    return answers[item.id].state if item.id in answers else None


def test_all_are_there_under_the_names_of_their_files() -> None:
    assert {one.id for one in SHIPPED} == EXPECTED
    assert {path.stem for path in FOLDER.glob("*.yaml")} == EXPECTED


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_they_follow_the_schema_and_name_what_there_is(name: str) -> None:
    text = (FOLDER / f"{name}.yaml").read_text("utf-8")
    schema = json.loads((ROOT / "docs" / "schemas" / "checklist.json").read_text("utf-8"))
    jsonschema.validate(yaml.safe_load(text), schema)
    assert unknown_references(parse_checklist(text, name), frozenset(check.id for check in CATALOG)) == ()


@pytest.mark.parametrize(("checklist", "item"), AUTOMATIC)
def test_each_check_decides_its_item(checklist: Checklist, item: ChecklistItem) -> None:
    passed = [result(check_id, CheckStatus.PASSED) for check_id in item.checks]
    assert state(checklist, item, *passed) is ItemState.DONE
    assert state(checklist, item) is None
    for check_id in (*item.checks, *item.also):
        others = [one for one in passed if one.check_id != check_id]
        for severity in (Severity.CRITICAL, Severity.ERROR, Severity.WARNING):
            assert state(checklist, item, *others, result(check_id, CheckStatus.FAILED, severity)) is ItemState.FAILED
        note = result(check_id, CheckStatus.FAILED, Severity.INFO)
        assert state(checklist, item, *others, note) is ItemState.OPEN
        assert state(checklist, item, *others, result(check_id, CheckStatus.SKIPPED)) is ItemState.OPEN
        assert state(checklist, item, *others, result(check_id, CheckStatus.SUPPRESSED)) is ItemState.OPEN
        if check_id in item.checks and others:
            assert state(checklist, item, *others) is ItemState.OPEN
    inapplicable = [result(check_id, CheckStatus.NOT_APPLICABLE) for check_id in item.checks]
    assert state(checklist, item, *inapplicable) is ItemState.OPEN


@pytest.mark.parametrize(("checklist", "item"), AUTOMATIC)
def test_no_item_is_done_without_a_subject_of_each_kind(checklist: Checklist, item: ChecklistItem) -> None:
    assert item.sees
    passed = diagnosis(*(result(check_id, CheckStatus.PASSED) for check_id in item.checks))
    (answer,) = [one for one in answer_automatically(checklist, passed, NOTHING, AT) if one.item == item.id]
    assert answer.state is ItemState.OPEN
    assert answer.evidence == f"no {' and no '.join(SUBJECTS[kind].word for kind in item.sees)} was in the input"


ITEMS = [param.values for param in AUTOMATIC]
OUTCOMES = st.sampled_from([None, *((status, severity) for status in CheckStatus for severity in (None, *Severity))])


@given(data=st.data(), pair=st.sampled_from(ITEMS), is_bound=st.booleans())
def test_failed_or_skipped_checks_never_complete_an_item(
    data: st.DataObject, pair: tuple[Checklist, ChecklistItem], is_bound: bool
) -> None:
    """For all results and all input, done means that every check that applies has passed."""
    checklist, item = pair
    results = []
    for check_id in (*item.checks, *item.also):
        drawn = data.draw(OUTCOMES, label=check_id)
        if drawn is not None:
            results.append(result(check_id, *drawn))
    shown = checklist if is_bound else unbound(checklist)
    answers = answer_automatically(shown, diagnosis(*results), Seen(build({}), Deployment()), AT)
    for answer in answers:
        if answer.item != item.id or answer.state is not ItemState.DONE:
            continue
        allowed = (CheckStatus.PASSED, CheckStatus.NOT_APPLICABLE)
        assert all(one.status in allowed and not one.findings for one in results)
        assert {one.check_id for one in results} >= set(item.checks)
        passed = [one.check_id for one in results if one.status is CheckStatus.PASSED]
        assert set(passed) & set(item.checks)
        assert answer.evidence.startswith(f"passed: {', '.join(passed)}")


def consumer(name: str, inside: Role | None = None, level: str = "read_committed") -> Component:
    defaults = {"isolation.level": level}
    return Component(Role.CONSUMER, name, Place(name, 1), name, inside=inside, defaults=defaults)


def test_observed_consumers_are_recorded_by_name() -> None:
    (checklist,) = [one for one in SHIPPED if one.id == "eos-go-live"]
    (item,) = [one for one in checklist.items if one.id == "readers"]
    passed = diagnosis(*(result(check_id, CheckStatus.PASSED) for check_id in item.checks))
    for components, wanted in (
        ((consumer("wallet.properties", Role.STREAMS),), (ItemState.OPEN, "no consumer was in the input")),
        (
            (consumer("wallet.properties", Role.STREAMS), consumer("bills.properties")),
            (ItemState.DONE, f"passed: {', '.join(item.checks)}; consumer: bills.properties"),
        ),
        (
            (consumer("bills.properties"), consumer("audit.properties", level="read_uncommitted")),
            (ItemState.OPEN, "consumer without isolation.level=read_committed: audit.properties"),
        ),
    ):
        seen = Seen(None, Deployment(components))
        (answer,) = [one for one in answer_automatically(checklist, passed, seen, AT) if one.item == "readers"]
        assert (answer.state, answer.evidence) == wanted


def test_an_unevaluated_item_names_the_missing_evidence() -> None:
    (checklist,) = [one for one in SHIPPED if one.id == "eos-go-live"]
    open_answers = {one.item: one for one in unanswered(checklist, (), AT)}
    assert open_answers.keys() == {item.id for item in checklist.items if item.kind is ItemKind.AUTOMATIC}
    assert open_answers["verification"].evidence == "not evaluated: EOS-BRK-002: needs a cluster or a snapshot"
    assert "EOS-CFG-020: needs configuration files" in open_answers["readers"].evidence
    assert unanswered(checklist, tuple(open_answers.values()), AT) == ()


def test_a_real_fault_turns_the_item() -> None:
    (checklist,) = [one for one in SHIPPED if one.id == "eos-go-live"]
    states = []
    for snapshot in (build({}), unhappy_cluster()):
        seen = Seen(snapshot, Deployment())
        found = answer_automatically(checklist, diagnose(ALL_CHECKS, Case(snapshot)), seen, AT)
        states.append({answer.item: answer.state for answer in found})
    assert (states[0]["nothing-hangs"], states[1]["nothing-hangs"]) == (ItemState.DONE, ItemState.FAILED)
    assert (states[0]["verification"], states[1]["verification"]) == (ItemState.DONE, ItemState.FAILED)
    # The second may not read the topics' settings, so the item does not pass.
    assert (states[0]["transaction-log"], states[1]["transaction-log"]) == (ItemState.DONE, ItemState.OPEN)
    assert states[0]["brokers"] is ItemState.DONE
    assert not {"readers", "timeouts", "kill-test"} & states[0].keys()


@pytest.mark.parametrize("name", PROBES)
def test_probes_know_when_they_do_not_know(name: str) -> None:
    nothing = replace(build({}), brokers=(), topics=(), looks=(), quorum=None, log_directories=())
    assert PROBES[name](nothing) is None


def test_probes_read_the_cluster() -> None:
    cluster = build({})
    assert PROBES["running-brokers"](cluster) == len(cluster.brokers)
    assert PROBES["partitions-out-of-sync"](cluster) == 0
    topic = cluster.topics[0]
    short = replace(topic.partitions[0], isr=topic.partitions[0].isr[:1])
    damaged = replace(cluster, topics=(replace(topic, partitions=(short, *topic.partitions[1:])), *cluster.topics[1:]))
    assert PROBES["partitions-out-of-sync"](damaged) == 1


def test_limits_hold_at_their_bounds() -> None:
    (item,) = [i for c in SHIPPED for i in c.items if (c.id, i.id) == ("kraft-migration", "voters")]
    states = [judge_measure(item, value)[0] for value in (2, 3, 5, 6)]
    assert states == [ItemState.FAILED, ItemState.DONE, ItemState.DONE, ItemState.FAILED]


ITEM = "{id: a, kind: manual, title: t, why: w, fix: f%s}"


@pytest.mark.parametrize(
    ("items", "told"),
    [
        ("[]", "no items"),
        (f"[{ITEM % ''}, {ITEM % ''}]", "twice"),
        (f"[{ITEM % ', checks: [EOS-TXN-001]'}]", "checks belong to automatic"),
        (f"[{ITEM % ', limit: {unit: ms, at_most: 1}'}]", "limit belongs to measured"),
        (f"[{ITEM % ', probe: running-brokers'}]", "probe belongs to measured"),
        ("[{id: a, kind: automatic, title: t, why: w, fix: f}]", "checks belong"),
        ("[{id: a, kind: measured, title: t, why: w, fix: f, limit: {unit: ms}}]", "no bound"),
        ("[{id: a, kind: manual, title: t, why: '', fix: f}]", "why"),
        ("[{id: a, kind: guess, title: t, why: w, fix: f}]", "guess"),
        ("[", "not a checklist"),
    ],
)
def test_lists_that_are_none_are_refused(items: str, told: str) -> None:
    with pytest.raises(ConfigFileError) as refused:
        parse_checklist(f"id: x\ntitle: t\npurpose: p\nversion: 1\nitems: {items}\n", "x.yaml")
    assert told in refused.value.what


def test_the_list_of_the_documentation_is_sound() -> None:
    text = (ROOT / "docs" / "checklists.md").read_text("utf-8")
    (example,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    checklist = parse_checklist(example, "docs/checklists.md")
    assert unknown_references(checklist, frozenset(check.id for check in CATALOG)) == ()
    assert all(f"`{name}`" in text for name in PROBES)


def test_a_deeply_nested_record_is_refused(tmp_path: Path) -> None:
    (tmp_path / "record.json").write_text('{"a":' * 100_000)
    with pytest.raises(ConfigFileError, match="is not a checklist record"):
        read_record(tmp_path / "record.json")
