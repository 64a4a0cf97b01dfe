"""What one lint advises can be followed as a whole: no remedy undoes another one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, product
from typing import Final, NamedTuple

from eosctl.checks.declaration import Case
from eosctl.checks.judge import judge
from eosctl.checks.registry import ALL_CHECKS
from eosctl.checks.runner import diagnose
from eosctl.findings.linted import findings_of
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Deployment
from eosctl.settings.deployment.deployment_files import read_components
from tests.checks.cases import all_cases, build
from tests.checks.configuration.test_rule_cases import CASES

STEP: Final = re.compile(
    r"\b(?P<verb>remove|set|raise|lower|write|put)\s+(?:an?\s+)?(?P<key>it|the setting|[\w-]+(?:\.[\w-]+)+)\b", re.I
)
ALTERNATIVE: Final = re.compile(r",? or (?=[a-z]+ )")


class Advice(NamedTuple):
    """One remedy as alternative ways to follow it. A way maps keys to whether it removes them."""

    file: str
    ways: tuple[dict[str, bool], ...]


def advice(file: str, keys: str, remedy: str) -> Advice:
    """Read a remedy; "it" and "the setting" are the first of the finding's keys."""
    first = keys.split(",")[0]
    return Advice(
        file,
        tuple(
            {
                first if step["key"].lower() in ("it", "the setting") else step["key"]: step["verb"].lower() == "remove"
                for step in STEP.finditer(way)
            }
            for way in ALTERNATIVE.split(remedy)
        ),
    )


def contradictions(advised: Iterable[Advice]) -> list[tuple[Advice, Advice]]:
    """Return the pairs of remedies for one file that have no compatible ways."""
    return [
        (one, other)
        for one, other in combinations(advised, 2)
        if one.file == other.file
        and all(any(a[key] != b[key] for key in a.keys() & b.keys()) for a, b in product(one.ways, other.ways))
    ]


def test_no_two_remedies_of_one_lint_contradict_each_other() -> None:
    for case in CASES:
        if case.expect == "failed":
            findings = findings_of(judge(case.deployment()))
            remedies = [(dict(finding.facts), remedy) for finding in findings for remedy in finding.remedy]
            advised = [advice(str(facts["file"]), str(facts["keys"]), remedy) for facts, remedy in remedies]
            assert contradictions(advised) == [], case


ADVISED: Final = re.compile(
    r"(?P<key>[\w.]*(?:min\.insync\.replicas|min\.isr|replication\.factor))(?:=| to )(?P<count>\d+)\b(?! or less)"
)
ACKS: Final = re.compile(r"\backs=(?P<acks>-?\w+)")


def lowered(text: str, today: Mapping[str, int]) -> list[str]:
    """Return what a text advises below today's values: replicas, replicas in sync, or acknowledgments."""
    counts = [step[0] for step in ADVISED.finditer(text) if int(step["count"]) < today.get(step["key"], 0)]
    return counts + [step[0] for step in ACKS.finditer(text) if step["acks"] not in ("all", "-1")]


def given(deployment: Deployment, file: str) -> dict[str, int]:
    values: dict[str, int] = {}
    for component in deployment.components:
        for name, value in component.given.items():
            if component.place.file == file and value.number is not None:
                for key in (name, value.key):
                    values[key] = max(value.number, values.get(key, 0))
    return values


def pairs() -> Iterator[Deployment]:
    for (least, factor), (minimum, replicas) in product(
        (
            ("transaction.state.log.min.isr", "transaction.state.log.replication.factor"),
            ("min.insync.replicas", "default.replication.factor"),
        ),
        product(range(1, 6), range(1, 6)),
    ):
        text = f"process.roles=broker\nnode.id=1\n{least}={minimum}\n{factor}={replicas}\n"
        text += f"offsets.topic.replication.factor={replicas}\n"
        other = text.replace("node.id=1", "node.id=2").replace(f"={minimum}\n", "=4\n")
        voters = "controller.quorum.voters=1@h:9093\n"
        files = {"server.properties": text + voters, "other.properties": other + voters}
        parts = tuple(part for name, one in files.items() for part in read_components(name, one))
        yield Deployment(parts, load_tables())


def test_no_remedy_over_configurations_lowers_the_durability() -> None:
    advised = 0
    for deployment in (*(case.deployment() for case in CASES if case.expect == "failed"), *pairs()):
        for finding in findings_of(judge(deployment)):
            today = given(deployment, str(dict(finding.facts)["file"]))
            for text in (*finding.remedy, *(command.line for command in finding.commands)):
                advised += len(ADVISED.findall(text))
                assert lowered(text, today) == [], (finding.check_id, text)
    assert advised > 50


def test_no_remedy_over_clusters_lowers_the_durability() -> None:
    changed = [
        build({"topics": [topic(name, minimum, replicas)]})
        for name, minimum, replicas in product(("__transaction_state", "__consumer_offsets"), range(1, 6), range(1, 6))
    ]
    for snapshot in (*(case.snapshot for case in all_cases() if case.expect == "failed"), *changed):
        for finding in diagnose(ALL_CHECKS, Case(snapshot)).findings:
            settings = [
                one for where in snapshot.topics if where.name == finding.resource.name for one in where.settings
            ]
            today = {one.name: int(one.value) for one in settings if one.value and one.value.isdecimal()}
            for text in (*finding.remedy, *(command.line for command in finding.commands)):
                assert lowered(text, today) == [], (finding.check_id, text)


def topic(name: str, minimum: int, replicas: int) -> dict[str, object]:
    nodes = list(range(1, replicas + 1))
    partition = {"partition": [name, 0], "leader_id": 1, "leader_epoch": 0, "replicas": nodes, "isr": nodes}
    settings = [{"name": "min.insync.replicas", "value": str(minimum)}, {"name": "cleanup.policy", "value": "compact"}]
    return {"name": name, "topic_id": "t", "internal": True, "settings": settings, "partitions": [partition]}


def test_a_lower_value_is_found_in_a_text() -> None:
    today = {"min.insync.replicas": 3}
    assert lowered("Set min.insync.replicas=2, or acks=1.", today) == ["min.insync.replicas=2", "acks=1"]
    assert lowered("Keep min.insync.replicas=3, and set acks=all.", today) == []


def test_removing_a_setting_that_another_fix_sets_contradicts() -> None:
    removed = advice("p", "transaction.timeout.ms", "Remove it.")
    assert contradictions([removed, advice("p", "a.b", "Remove a.b and set a transaction.timeout.ms longer than c.")])
    assert contradictions([removed, advice("p", "transaction.timeout.ms", "Set it to 3 or less.")])


def test_what_can_be_followed_together_is_none() -> None:
    removed = advice("p", "a.b", "Remove a.b.")
    assert not contradictions([removed, advice("p", "a.b", "Set a.b=3, or remove a.b.")])
    assert not contradictions([removed, advice("p", "a.b", "Upgrade, or remove it."), advice("q", "a.b", "Set a.b=3.")])
    assert not contradictions([removed, advice("p", "c.d", "Set c.d to 3 or less.")])
