"""Turns what a broker answers to a scenario without expectations into the expectations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scripts.transcript_runner.conversation import Conversation
from scripts.transcript_runner.matching import UnboundNameError
from scripts.transcript_runner.scenario import Scenario, Target
from scripts.transcript_runner.sockets import SocketCluster

MILLISECONDS_2020 = 1_577_836_800_000
NO_TOPIC_ID = "00000000-0000-0000-0000-000000000000"
#: Fields whose values differ from run to run, and the kind of name that stands for them.
KINDS = {
    "producerId": "pid",
    "currentProducerId": "pid",
    "memberId": "member",
    "leader": "member",
    "topicId": "topic",
    "sessionId": "session",
}
#: Ids that a broker makes up: a UUID, or one in base 64.
GENERATED = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}|^[\w-]{22}$")
ANYTHING = frozenset(
    {"host", "port", "clusterId", "brokers", "nodeEndpoints", "endpoints", "controllerId", "nodeId"}
) | {"finalizedFeaturesEpoch"}
LEFT_OUT = frozenset({"throttleTimeMs"})


class Recorder(Conversation):
    """Plays a scenario and keeps what came, with names for what differs from run to run."""

    def record(self) -> list[Any]:
        """Create the topics and do every step; returns the answers in order, None where nothing is to be compared."""
        self._create_topics()
        answers = []
        for step in self._scenario.steps:
            try:
                answer = self._do(step)
            except (UnboundNameError, TimeoutError) as error:
                raise SystemExit(f"{self._scenario}: {step}: {error}") from error
            answers.append(self._masked("", answer) if answer is not None else None)
        return answers

    def _masked(self, field: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._masked(name, item) for name, item in value.items() if name not in LEFT_OUT}
        if field in ANYTHING:
            return "<any>"
        if isinstance(value, list):
            return [self._masked(field, item) for item in value]
        if isinstance(value, bool) or value is None:
            return value
        if isinstance(value, int):
            if value > MILLISECONDS_2020:
                return "<timestamp>"
            return self._named(field, value) if field in KINDS and value > 0 else value
        if field in KINDS and value not in ("", NO_TOPIC_ID):
            return self._named(field, value)
        return self._without_names(value)

    def _named(self, field: str, value: Any) -> str:
        kind = KINDS[field]
        for name, bound in self._names.items():
            if bound == value and name.partition("_")[0] == kind:
                return f"${name}"
        if f"'{value}'" in repr(self._scenario.steps):  # what the scenario itself names
            return str(value)
        if isinstance(value, str) and field != "topicId" and not GENERATED.search(value):
            return self._without_names(value)
        name = f"{kind}_{chr(ord('A') + sum(other.startswith(f'{kind}_') for other in self._names))}"
        self._names[name] = value
        return f"${name}"

    def _without_names(self, text: str) -> str:
        for name, bound in self._names.items():
            if name == "run" or (isinstance(bound, str) and len(bound) > len("member-1")):
                text = text.replace(str(bound), f"${name}")
        return text


def record_on(bootstrap: str, scenario: Scenario, target: Target, run: str) -> list[Any]:
    """Play a scenario on a running broker and return its answers."""
    with SocketCluster(bootstrap) as cluster:
        return Recorder(cluster, scenario, target, run).record()


def with_expectations(scenario: Mapping[str, Any], answers: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Return the scenario's file with what every target answered; what all answered alike stands once."""
    steps = []
    for number, step in enumerate(scenario["steps"]):
        kept = {name: value for name, value in step.items() if name not in ("expect", "expect_on")}
        said = {target: found[number] for target, found in answers.items() if found[number] is not None}
        if said and "until" not in step:
            first = next(iter(said.values()))
            if all(other == first for other in said.values()):
                kept["expect"] = first
            else:
                kept["expect_on"] = said
        steps.append(kept)
    return {**scenario, "steps": steps}
