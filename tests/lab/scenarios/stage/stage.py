"""Where the two faults of this folder are made, with every id and offset reported to the test."""

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


class ScenarioRefused(EosctlError):  # noqa: N818
    """The cluster does not let the fault happen: a setting or its release prevents it."""


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
