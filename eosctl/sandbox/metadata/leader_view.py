"""Who leads the metadata log, as far as a node knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

NO_LEADER = -1


class LeaderView:
    """The leader of the newest epoch that this node has heard of; `on_change` is told the one that leads no more."""

    def __init__(self, voters: Sequence[int]) -> None:
        self.voters = tuple(voters)
        self.epoch = 0
        self.leader_id = NO_LEADER
        self.on_change: Callable[[int], None] = _nobody

    def heard_of(self, leader_id: int, epoch: int, source: int) -> None:
        """Take over what the node `source` says; older news change nothing."""
        if epoch > self.epoch or (epoch == self.epoch and leader_id != NO_LEADER):
            self._follow(leader_id, epoch)

    def unreachable(self, node_id: int) -> None:
        """Note that a node did not answer: another voter may know who leads now."""
        if node_id == self.leader_id:
            self._follow(NO_LEADER, self.epoch)

    def fetched(self) -> None:
        """Note that the leader answered a fetch."""

    def _follow(self, leader_id: int, epoch: int) -> None:
        former, self.leader_id, self.epoch = self.leader_id, leader_id, epoch
        if former not in (NO_LEADER, leader_id):
            self.on_change(former)


def _nobody(former: int) -> None:
    """Let a change of the leader go unnoticed."""
