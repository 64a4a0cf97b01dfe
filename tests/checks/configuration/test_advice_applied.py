"""All advice of a lint, followed as a whole, leaves nothing that the lint did not report before."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.checks.configuration.spelled import spelled
from eosctl.checks.judge import judge
from eosctl.findings.finding import Finding
from eosctl.findings.linted import findings_of
from eosctl.model.deployment import Component, Deployment, Value
from eosctl.model.severity import Severity
from tests.checks.configuration.test_rule_cases import CASES

KEY: Final = r"(?P<key>it|the setting|[\w-]+(?:[.>-][\w-]+)+|[A-Za-z]+_\w+|[a-z]+(?-i:[A-Z])\w+)"
SET: Final = re.compile(
    rf"\b(?:set|raise|lower|keep)\s+{KEY}"
    r"(?:\s*=\s*(?P<text>-?[\w-]+(?:\.[\w-]+)*)|\s+to\s+(?:at most |at least )?(?P<value>-?\d+|enabled|true|false)\b)",
    re.IGNORECASE,
)
TOGETHER: Final = re.compile(r"\((?P<key>[\w.-]+): (?P<value>\d+)\)")
EVERYWHERE: Final = re.compile(r"\bon all (?:workers|brokers)\b")
REMOVE: Final = re.compile(rf"\bremove\s+{KEY}", re.I)
ALTERNATIVE: Final = re.compile(r",? or (?=[a-z]+ )")


class Edit(NamedTuple):
    """A key of a file, or of all files, with its new text; None where it is removed."""

    file: str | None
    line: int
    key: str
    text: str | None


def edits_of(finding: Finding) -> list[Edit]:
    """Return the edits of the first way to follow a finding's remedies that names keys and values.

    A processing guarantee is left out: defaults that the reader has resolved depend on it.
    """
    facts = dict(finding.facts)
    first = str(facts["keys"]).split(",")[0].strip()
    for way in (way for remedy in finding.remedy for way in ALTERNATIVE.split(remedy)):
        found = [(step["key"], step["text"] or step["value"]) for step in SET.finditer(way)]
        found += [(step["key"], step["value"]) for step in TOGETHER.finditer(way)]
        found += [(step["key"], None) for step in REMOVE.finditer(way)]
        if found:
            named = ((first if key.lower() in ("it", "the setting") else key, text) for key, text in found)
            file = None if EVERYWHERE.search(way) else str(facts["file"])
            return [
                Edit(file, int(str(facts["line"])), key, text) for key, text in named if key != "processing.guarantee"
            ]
    return []


def applied(deployment: Deployment, edits: list[Edit]) -> Deployment:
    return Deployment(tuple(_edited(one, edits) for one in deployment.components), deployment.tables)


def _edited(component: Component, edits: list[Edit]) -> Component:
    given: dict[str, Value] = dict(component.given)
    table = set(component.defaults) | set(component.framework)
    absent = {key: name for name in table if (key := spelled(name, component)) != name}
    for edit in (one for one in edits if one.file in (None, component.place.file)):
        edit = edit._replace(key=absent.get(edit.key, edit.key))
        name = next((name for name, value in given.items() if edit.key in (value.key, name)), None)
        if name is not None and edit.text is None:
            del given[name]
        elif edit.text is not None and (name is not None or edit.key in table):
            before = given.get(name or edit.key)
            place = component.place._replace(line=edit.line) if before is None else before.place
            key = name or edit.key
            given[key] = Value(key, edit.text, edit.key if before is None else before.key, place)
    return replace(component, given=given)


def reported(deployment: Deployment) -> Mapping[tuple[str, str], Finding]:
    """Return the findings that are more than information, by check and file."""
    findings = [one for one in findings_of(judge(deployment)) if one.severity.at_least(Severity.WARNING)]
    return {(one.check_id, str(dict(one.facts)["file"])): one for one in findings}


def test_following_all_advice_causes_no_new_finding() -> None:
    followed: set[str] = set()
    caused: list[tuple[str, str]] = []
    for case in (one for one in CASES if one.expect == "failed"):
        deployment = case.deployment()
        before = reported(deployment)
        edits = [edit for finding in findings_of(judge(deployment)) for edit in edits_of(finding)]
        if not edits:
            continue
        followed |= {check_id for (check_id, _), finding in before.items() if edits_of(finding)}
        after = reported(applied(deployment, edits))
        caused += [(str(case), f"{one.check_id}: {one.message}") for key, one in after.items() if key not in before]
    assert caused == []
    assert len(followed) > 60


def test_a_contradicting_advice_would_be_found() -> None:
    case = next(one for one in CASES if one.check_id == "EOS-CFG-010" and one.expect == "failed")
    deployment = case.deployment()
    (file,) = case.files
    before = reported(deployment)
    spoiled = applied(deployment, [Edit(file, 1, "enable.idempotence", "true"), Edit(file, 1, "acks", "1")])
    assert reported(spoiled).keys() - before.keys()
