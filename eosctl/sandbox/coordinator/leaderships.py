"""Notify a broker's coordinators of the partitions that they lead, starting with its registration."""

from __future__ import annotations

from collections.abc import Mapping

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.ports import CoordinatorHooks
from eosctl.sandbox.replication.partition import Partition


class CoordinatorLeaderships:
    """Passes leadership changes to the coordinators (a `RoleListener`).

    A starting broker replays the leader epochs of its previous runs from the metadata log. Coordinators are notified
    only once the metadata contains the current registration, so that each log is loaded once, in the current epoch.
    Kafka's brokers also publish no metadata to coordinators before the initial catch-up.
    """

    def __init__(self, coordinators: Mapping[str, CoordinatorHooks]) -> None:
        """Create it for an unregistered broker; coordinators are keyed by their topics."""
        self._coordinators = coordinators
        self._led_formerly: dict[TopicPartition, Partition] = {}
        self._is_caught_up = False

    def caught_up(self, offset: int, registration_offset: int) -> None:
        """Start notifications once metadata up to an offset contains the registration (-1: not registered yet)."""
        if self._is_caught_up or not 0 <= registration_offset <= offset:
            return
        self._is_caught_up = True
        led, self._led_formerly = self._led_formerly, {}
        for partition in led.values():
            self.became_leader(partition)

    def became_leader(self, partition: Partition) -> None:
        """Load the partition in the coordinator of its topic."""
        coordinator = self._coordinators.get(partition.partition.topic)
        if coordinator is None:
            return
        if self._is_caught_up:
            coordinator.become_leader(partition.partition.partition, partition.leader_epoch)
        else:
            self._led_formerly[partition.partition] = partition

    def became_follower(self, partition: Partition) -> None:
        """Unload the partition in the coordinator of its topic."""
        coordinator = self._coordinators.get(partition.partition.topic)
        if coordinator is None:
            return
        self._led_formerly.pop(partition.partition, None)
        coordinator.resign(partition.partition.partition, partition.leader_epoch)

    def marker_replicated(self, partition: Partition, producer_id: int, producer_epoch: int, committed: bool) -> None:
        """Commit or drop the offsets of a transaction in the group coordinator."""
        coordinator = self._coordinators.get(partition.partition.topic)
        if coordinator is not None:
            coordinator.marker_written(partition.partition.partition, producer_id, producer_epoch, committed)
