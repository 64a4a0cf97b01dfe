"""What a scenario is: who does what to a cluster, what comes of it, and what a diagnosis must find."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from eosctl.client.ports import Connector, WallClock
from eosctl.errors import EosctlError
from eosctl.model.client_config import ClientConfig
from eosctl.model.transaction import TopicPartition
from eosctl.wire.error_codes import ErrorCode


class Step(NamedTuple):
    """One thing that somebody did, and what the cluster answered (empty when it simply agreed)."""

    actor: str
    action: str
    answer: str = ""

    def __str__(self) -> str:
        return f"{self.actor}: {self.action}" + (f" -> {self.answer}" if self.answer else "")


class Refusal(NamedTuple):
    """A request that the cluster refused."""

    request: str
    error: ErrorCode


def _tell_nobody(step: Step) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a scenario plays.

    Attributes:
        config: The cluster and how to connect to it.
        now_ms: Dates the records.
        chance: Whatever the scenario leaves to chance.
        connector: Opens the streams; sockets when None.
        tell: Told every step when it is done.
    """

    config: ClientConfig
    now_ms: WallClock
    chance: random.Random
    connector: Connector | None = None
    tell: Callable[[Step], None] = field(default=_tell_nobody)


class Report(Protocol):
    """What every scenario's report has: its steps, and the partition that it left its mark on."""

    @property
    def partition(self) -> TopicPartition:
        """The partition."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """What happened, in order."""


class ScenarioRefused(EosctlError):  # noqa: N818
    """The cluster does not let the fault happen: a setting or its release prevents it."""


class Scenario(NamedTuple):
    """A scenario as ``sandbox scenario`` lists it.

    Attributes:
        name: How it is called.
        title: One line.
        happens: What is done, in plain words.
        matters: Why it matters for exactly-once.
        expected_findings: Ids of the checks that must fail afterwards.
        run: Plays it with its defaults.
    """

    name: str
    title: str
    happens: str
    matters: str
    expected_findings: tuple[str, ...]
    run: Callable[[Stage], Awaitable[Report]]


class Storyteller:
    """Collects the steps of a run and passes each on when it is done."""

    def __init__(self, stage: Stage) -> None:
        self._tell = stage.tell
        self.steps: list[Step] = []

    def did(self, actor: str, action: str, answer: str = "") -> None:
        """Note one step."""
        step = Step(actor, action, answer)
        self.steps.append(step)
        self._tell(step)
