"""Selects faults by coverage: the kind that covers the fewest states, at a state that is new to it."""

from __future__ import annotations

import random
from collections.abc import Sequence

from eosctl.lab.history.coverage import ClientState, Coverage
from eosctl.lab.verify.plan import FaultRange, PlannedFault, draw_fault


class Guide:
    """Selects faults one after the other.

    Args:
        ranges: The available kinds.
        chance: Selects between kinds with equal coverage, and draws their parameters.
        gap_ms: Average pause between two faults.
        coverage: The coverage so far, updated by the recorder.
    """

    def __init__(self, ranges: Sequence[FaultRange], chance: random.Random, gap_ms: int, coverage: Coverage) -> None:
        self._ranges = ranges
        self._chance = chance
        self._gap_ms = gap_ms
        self.coverage = coverage
        self._chosen = dict.fromkeys((one.kind for one in ranges), 0)

    @property
    def patience_ms(self) -> int:
        """Return how long to wait for a state that the fault has not covered."""
        return self._gap_ms

    def pause_ms(self) -> int:
        """Return the pause before the next fault is selected."""
        return self._chance.randint(self._gap_ms // 4, self._gap_ms)

    def choose(self, left_ms: int) -> PlannedFault:
        """Return the next fault, which starts now in the guide's view.

        Args:
            left_ms: Its maximum duration.
        """
        tried = [(self.coverage.met_count(one.kind), self._chosen[one.kind]) for one in self._ranges]
        best = min(tried)
        drawn = self._chance.choice([one for one, so_far in zip(self._ranges, tried, strict=True) if so_far == best])
        self._chosen[drawn.kind] += 1
        return draw_fault(drawn, self._chance, 0, left_ms)

    def is_the_moment(self, kind: str) -> bool:
        """Return whether a fault of this kind would cover a new state now, or none is left."""
        return self.coverage.would_be_new(kind) or self.coverage.met_count(kind) == len(ClientState)
