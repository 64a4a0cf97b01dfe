"""The environment of the two faults in this folder, which report every id and offset to the test."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from eosctl.client.ports import Connector, WallClock
from eosctl.errors import EosctlError
from eosctl.lab.scenarios.steps.play import Step
from eosctl.model.client_config import ClientConfig
from eosctl.wire.error_codes import ErrorCode


class Refusal(NamedTuple):
    """A request that the cluster refused."""

    request: str
    error: ErrorCode


def _ignore(step: Step) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Stage:
    """The environment of a scenario.

    Attributes:
        config: The cluster and how to connect to it.
        now_ms: Dates the records.
        chance: Source of the scenario's random choices.
        connector: Opens the streams; sockets when None.
        report: Called with each completed step.
    """

    config: ClientConfig
    now_ms: WallClock
    chance: random.Random
    connector: Connector | None = None
    report: Callable[[Step], None] = field(default=_ignore)


class ScenarioRefused(EosctlError):  # noqa: N818
    """The cluster does not let the fault happen: a setting or its release prevents it."""


class StepRecorder:
    """Collects the steps of a run and reports each completed step."""

    def __init__(self, stage: Stage) -> None:
        self._report = stage.report
        self.steps: list[Step] = []

    def did(self, actor: str, action: str, answer: str = "") -> None:
        """Note one step."""
        step = Step(actor, action, answer)
        self.steps.append(step)
        self._report(step)
