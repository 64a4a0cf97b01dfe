"""Scenario files: what is sent, what a real broker answered, on which targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

DEFAULT_PROFILE = "default"


class Target(NamedTuple):
    """A broker with recorded responses, and the sandbox's options for emulating it."""

    name: str
    release: str
    transaction_version: int | None


TARGETS = (
    Target("3.9-tv0", "3.9", None),
    Target("4.3-tv1", "4.3", 1),
    Target("4.3-tv2", "4.3", 2),
    Target("4.4-tv2", "4.4", 2),
)
#: A target whose answers are those of another one where a scenario does not name it.
LIKE: Mapping[str, str] = {"4.4-tv2": "4.3-tv2"}
#: Answers of these name the versions and levels that a release has.
_OF_ONE_RELEASE = frozenset({"ApiVersions", "UpdateFeatures"})
_MANY_SETTINGS = 30

#: The settings of the recorded brokers.
SETTINGS: Mapping[str, str] = {
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "offsets.topic.num.partitions": "5",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "5",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
    "producer.id.expiration.check.interval.ms": "200",
}

#: Settings that a profile adds.
PROFILES: Mapping[str, Mapping[str, str]] = {
    DEFAULT_PROFILE: {},
    "short-expiry": {
        "transactional.id.expiration.ms": "1500",
        "transaction.remove.expired.transaction.cleanup.interval.ms": "200",
    },
    "two-phase-commit": {
        "unstable.api.versions.enable": "true",
        "transaction.two.phase.commit.enable": "true",
    },
    "unstable-versions": {"unstable.api.versions.enable": "true"},
}


class Scenario(NamedTuple):
    """One recorded conversation; `steps` are as in the file."""

    area: str
    name: str
    title: str
    steps: list[dict[str, Any]]
    targets: tuple[str, ...]
    profile: str
    topics: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.area}/{self.name}"


def load_scenario(path: Path) -> Scenario:
    """Read one file."""
    content = yaml.load(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return Scenario(
        path.parent.name,
        path.stem,
        content["title"],
        content["steps"],
        _targets(content),
        content.get("profile", DEFAULT_PROFILE),
        content.get("topics", {}),
    )


def _targets(content: Mapping[str, Any]) -> tuple[str, ...]:
    named = content.get("targets", [target.name for target in TARGETS if target.name not in LIKE])
    if any(step.get("api") in _OF_ONE_RELEASE or _lists_settings(step) for step in content["steps"]):
        return tuple(named)
    return (*named, *(target for target, other in LIKE.items() if other in named and target not in named))


def _lists_settings(step: Mapping[str, Any]) -> bool:
    """Return whether an expected answer lists every setting of a topic, which differ from release to release."""

    def lists(value: Any) -> bool:
        if isinstance(value, dict):
            return any(
                (key == "configs" and len(item or ()) > _MANY_SETTINGS) or lists(item) for key, item in value.items()
            )
        return isinstance(value, list) and any(map(lists, value))

    return lists(step.get("expect")) or lists(step.get("expect_on"))


def load_scenarios(folder: Path, containing: str = "") -> Iterator[Scenario]:
    """Read all scenarios of a folder whose area and name contain a text."""
    for path in sorted(folder.rglob("*.yaml")):
        if containing in f"{path.parent.name}/{path.stem}":
            yield load_scenario(path)


def expectation(step: Mapping[str, Any], target: str) -> Any:
    """Return what a step must answer on a target, None when nothing is expected."""
    by_target = step.get("expect_on", {})
    return by_target.get(target, by_target.get(LIKE.get(target, ""), step.get("expect")))
