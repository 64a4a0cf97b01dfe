"""All advice of a lint, followed as a whole, leaves nothing that the lint did not report before."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from eosctl.checks.configuration.spelled import spelled
from eosctl.checks.judge import judge
from eosctl.findings.finding import Finding
from eosctl.findings.linted import findings_of
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Component, Deployment, Value
from eosctl.model.severity import Severity
from eosctl.settings.deployment.deployment_files import read_components
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


MILLISECONDS: Final = st.sampled_from((100, 5_000, 10_000, 60_000, 300_000, 600_000, 900_000, 1_200_000, 3_600_000))
MAXIMUMS: Final = st.sampled_from((60_000, 300_000, 900_000, 3_600_000))

STREAMS: Final = "application.id=a\nbootstrap.servers=k:9092\nprocessing.guarantee=exactly_once_v2\n"
BROKERS: Final = """apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
metadata: {{name: core}}
spec:
  kafka:
    version: 3.9.0
    replicas: {}
    config:
      transaction.state.log.replication.factor: {}
      transaction.state.log.min.isr: {}
      default.replication.factor: {}
      min.insync.replicas: {}
      transaction.max.timeout.ms: {}
"""
DIRECTIONS: Final = re.compile(
    rf"\b(?P<verb>set|raise|lower|shorten) {KEY}(?:(?:=| to )(?:at most )?(?P<number>\d+)\b)?", re.IGNORECASE
)


def read(files: Mapping[str, str]) -> Deployment:
    parts = [part for file, text in files.items() for part in read_components(file, text)]
    return Deployment(tuple(parts), load_tables())


def followed_without_harm(files: Mapping[str, str]) -> list[str]:
    """Return what is wrong with the advice for some files: new findings, and two directions for one key."""
    deployment = read(files)
    found = findings_of(judge(deployment))
    before = reported(deployment)
    after = reported(applied(deployment, [edit for one in found for edit in edits_of(one)]))
    wrong = [f"{one.check_id}: {one.message}" for key, one in after.items() if key not in before]
    now = {(one.place.file, value.key): value.number for one in deployment.components for value in one.given.values()}
    verbs: dict[tuple[str, str], set[str]] = {}
    for one in found:
        file = str(dict(one.facts)["file"])
        for step in DIRECTIONS.finditer(" ".join(one.remedy)):
            is_less = step["number"] is not None and int(step["number"]) < (now.get((file, step["key"])) or 0)
            way = "down" if is_less or step["verb"].lower() in ("lower", "shorten") else "up"
            verbs.setdefault((file, step["key"]), set()).add(way)
    return wrong + [f"{key}: {ways}" for key, ways in verbs.items() if len(ways) > 1]


@given(MILLISECONDS, MILLISECONDS, st.none() | MAXIMUMS)
def test_an_advised_timeout_is_one_that_brokers_accept(interval: int, timeout: int, maximum: int | None) -> None:
    text = f"{STREAMS}commit.interval.ms={interval}\nproducer.transaction.timeout.ms={timeout}\n"
    files = {"app/streams.properties": text}
    if maximum is not None:
        files["app/server.properties"] = f"process.roles=broker\nnode.id=1\ntransaction.max.timeout.ms={maximum}\n"
    remedies = [remedy for one in findings_of(judge(read(files))) for remedy in one.remedy]
    advised = [int(one) for text in remedies for one in re.findall(r"transaction\.timeout\.ms=(\d+)", text)]
    assert all(one <= (maximum or 900_000) for one in advised)
    assert followed_without_harm(files) == []


@given(*(st.integers(1, 5) for _ in range(5)), MAXIMUMS)
def test_advised_replicas_are_not_more_than_brokers(
    brokers: int, factor: int, minimum: int, default: int, sync: int, maximum: int
) -> None:
    files = {"kafka.yaml": BROKERS.format(brokers, factor, minimum, default, sync, maximum)}
    found = findings_of(judge(read(files)))
    asked = [
        text
        for one in found
        for text in one.remedy
        if not re.search("[Aa]dd (?:a broker|brokers)|brokers or more", text)
    ]
    assert all(int(one) <= max(brokers, 1) for text in asked for one in re.findall(r"factor=(\d+)", text)), asked
    # One key gets one value.
    values: dict[str, set[str]] = {}
    for one in found:
        for edit in edits_of(one):
            values.setdefault(edit.key, set()).add(str(edit.text))
    assert [key for key, texts in values.items() if len(texts) > 1] == []
