"""Conversations that nobody wrote: each step is drawn from a seed and from what was answered before.

They hold the rules against each other where a written scenario would not think of it. Improvised on the sandbox in
memory, whose answers are then what a real broker is expected to give.
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
    """Makes up a conversation while it holds it; a subclass knows what there is to say."""

    area: ClassVar[str]
    topics: ClassVar[Mapping[str, int]] = {TOPIC: 2}

    def __init__(self, harness: Harness, seed: int, target: Target) -> None:
        title = f"Improvised from seed {seed}"
        empty = Scenario(self.area, str(seed), title, [], (target.name,), DEFAULT_PROFILE, dict(self.topics))
        super().__init__(harness, empty, target, f"run{seed:x}")
        self._rng = random.Random(seed)

    def converse(self, count: int = MANY_STEPS) -> Scenario:
        """Make up a conversation, look at what it left, and return it with the answers as expectations."""
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
        """Return what comes first."""
        return ()

    @abstractmethod
    def makers(self) -> Makers:
        """Return what may be said now, and how often it should be."""

    @abstractmethod
    def closing(self) -> Sequence[Step]:
        """Return the questions whose answers are all that a conversation left behind."""

    def learn(self, step: Step, answer: Any) -> None:
        """Take note of an answer; differing values have their names already."""

    def settle(self, step: Step) -> None:
        """Wait for what a broker does after its answer: how soon is nobody's promise."""

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
    """Return a question of somebody who takes no part."""
    return {"client": "X", "api": api, "version": version, "request": request}
