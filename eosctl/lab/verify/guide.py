"""Chooses faults by what has been tried: the kind that met the fewest states, when it meets one that is new to it."""

from __future__ import annotations

import random
from collections.abc import Sequence

from eosctl.lab.history.coverage import ClientState, Coverage
from eosctl.lab.verify.plan import FaultRange, PlannedFault, draw_fault


class Guide:
    """Chooses one fault after the other.

    Args:
        ranges: What to choose from.
        chance: Decides between kinds that have met equally many states, and what is left open by a kind.
        gap_ms: Pause between two faults, on average.
        coverage: What has been tried; whoever keeps the history tells it.
    """

    def __init__(self, ranges: Sequence[FaultRange], chance: random.Random, gap_ms: int, coverage: Coverage) -> None:
        self._ranges = ranges
        self._chance = chance
        self._gap_ms = gap_ms
        self.coverage = coverage
        self._chosen = dict.fromkeys((one.kind for one in ranges), 0)

    @property
    def patience_ms(self) -> int:
        """How long to wait for a moment in which the fault would meet a new state."""
        return self._gap_ms

    def pause_ms(self) -> int:
        """Return how long to wait before the next fault is chosen."""
        return self._chance.randint(self._gap_ms // 4, self._gap_ms)

    def choose(self, left_ms: int) -> PlannedFault:
        """Return the next fault, which begins now as far as the guide knows.

        Args:
            left_ms: It lasts no longer.
        """
        tried = [(self.coverage.met_count(one.kind), self._chosen[one.kind]) for one in self._ranges]
        best = min(tried)
        drawn = self._chance.choice([one for one, so_far in zip(self._ranges, tried, strict=True) if so_far == best])
        self._chosen[drawn.kind] += 1
        return draw_fault(drawn, self._chance, 0, left_ms)

    def is_the_moment(self, kind: str) -> bool:
        """Return whether a fault of this kind would meet a state now that it has not met, or none is left."""
        return self.coverage.would_be_new(kind) or self.coverage.met_count(kind) == len(ClientState)
