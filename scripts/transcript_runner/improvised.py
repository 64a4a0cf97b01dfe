"""Random conversations: each step is drawn from a seed and the earlier responses.

They test combinations that hand-written scenarios miss. The sandbox in memory generates them, and its responses are the
expected ones of a real broker.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

from scripts.transcript_runner.recording import Recorder
from scripts.transcript_runner.scenario import DEFAULT_PROFILE, Scenario, Target
from tests.sandbox.harness import Harness

Step = dict[str, Any]
Makers = Mapping[Callable[[], Step], float]

TOPIC: Final = "orders-$run"
MANY_STEPS: Final = 28


class Improviser(Recorder, ABC):
    """Generates a conversation while it runs; subclasses define the requests."""

    area: ClassVar[str]
    topics: ClassVar[Mapping[str, int]] = {TOPIC: 2}

    def __init__(self, harness: Harness, seed: int, target: Target) -> None:
        title = f"Improvised from seed {seed}"
        empty = Scenario(self.area, str(seed), title, [], (target.name,), DEFAULT_PROFILE, dict(self.topics))
        super().__init__(harness, empty, target, f"run{seed:x}")
        self._rng = random.Random(seed)

    def converse(self, count: int = MANY_STEPS) -> Scenario:
        """Generate a conversation, query the result, and return it with the responses as expectations."""
        self._create_topics()
        for step in self.opening():
            self._play(step)
        for _ in range(count):
            makers = self.makers()
            (maker,) = self._rng.choices(list(makers), list(makers.values()))
            step = maker()
            self._play(step)
            self.settle(step)
        for step in self.closing():
            self._play(step)
        return self._scenario

    # --- what a subclass says -----------------------------------------------------------------------------------

    def opening(self) -> Sequence[Step]:
        """Return the first requests."""
        return ()

    @abstractmethod
    def makers(self) -> Makers:
        """Return the possible requests, with their weights."""

    @abstractmethod
    def closing(self) -> Sequence[Step]:
        """Return the queries whose responses show the final state."""

    def learn(self, step: Step, answer: Any) -> None:
        """Process a response; variable values are already replaced by names."""

    def settle(self, step: Step) -> None:
        """Wait for asynchronous work of the broker, which has no defined duration."""

    # --- playing ------------------------------------------------------------------------------------------------

    def _play(self, step: Step) -> Any:
        answer = self._do(step)
        kept = dict(step)
        if answer is not None:
            said = self._masked("", answer)
            self.learn(step, said)
            kept["expect"] = said
        self._scenario.steps.append(kept)
        return answer

    def _step(self, api: str, version: int, request: Mapping[str, Any], **more: Any) -> Step:
        return {"client": self._rng.choice("AB"), "api": api, "version": version, "request": dict(request), **more}


def looking(api: str, version: int, request: Step) -> Step:
    """Return a query of an uninvolved client."""
    return {"client": "X", "api": api, "version": version, "request": request}
