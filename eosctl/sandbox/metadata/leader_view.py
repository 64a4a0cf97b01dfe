"""A node's view of the metadata log's leader."""

from __future__ import annotations

from collections.abc import Callable, Sequence

NO_LEADER = -1


class LeaderView:
    """The leader of the newest known epoch; `on_change` receives the previous leader."""

    def __init__(self, voters: Sequence[int]) -> None:
        self.voters = tuple(voters)
        self.epoch = 0
        self.leader_id = NO_LEADER
        self.on_change: Callable[[int], None] = _ignore_change

    def update_leader(self, leader_id: int, epoch: int, source: int) -> None:
        """Update the leader from a response of node `source`; ignore older epochs."""
        if epoch > self.epoch or (epoch == self.epoch and leader_id != NO_LEADER):
            self._follow(leader_id, epoch)

    def unreachable(self, node_id: int) -> None:
        """Record that a node did not respond; another voter may know the current leader."""
        if node_id == self.leader_id:
            self._follow(NO_LEADER, self.epoch)

    def fetched(self) -> None:
        """Record that the leader responded to a fetch."""

    def _follow(self, leader_id: int, epoch: int) -> None:
        former, self.leader_id, self.epoch = self.leader_id, leader_id, epoch
        if former not in (NO_LEADER, leader_id):
            self.on_change(former)


def _ignore_change(former: int) -> None:
    """Ignore a change of the leader."""
