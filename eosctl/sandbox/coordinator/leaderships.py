"""Which partitions of their topics the coordinators of a broker lead, from its registration on."""

from __future__ import annotations

from collections.abc import Mapping

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.ports import CoordinatorHooks
from eosctl.sandbox.replication.partition import Partition


class CoordinatorLeaderships:
    """Passes leaderships on to the coordinators (a `RoleListener`).

    A broker that starts finds its former life in the metadata log, epoch by epoch. None of it reaches a coordinator
    before the metadata is that of its registration: each log is then loaded once, in the epoch that counts (Kafka's
    brokers publish no metadata to their coordinators before the initial catch-up).
    """

    def __init__(self, coordinators: Mapping[str, CoordinatorHooks]) -> None:
        """Start for a broker that is not registered yet; coordinators are known by their topics."""
        self._coordinators = coordinators
        self._led_formerly: dict[TopicPartition, Partition] = {}
        self._is_caught_up = False

    def caught_up(self, offset: int, registration_offset: int) -> None:
        """Begin to pass on, once metadata up to an offset holds the registration (at -1 there is none yet)."""
        if self._is_caught_up or not 0 <= registration_offset <= offset:
            return
        self._is_caught_up = True
        led, self._led_formerly = self._led_formerly, {}
        for partition in led.values():
            self.became_leader(partition)

    def became_leader(self, partition: Partition) -> None:
        """Let the coordinator whose topic this is load it."""
        coordinator = self._coordinators.get(partition.partition.topic)
        if coordinator is None:
            return
        if self._is_caught_up:
            coordinator.become_leader(partition.partition.partition, partition.leader_epoch)
        else:
            self._led_formerly[partition.partition] = partition

    def became_follower(self, partition: Partition) -> None:
        """Let the coordinator whose topic this is forget it."""
        coordinator = self._coordinators.get(partition.partition.topic)
        if coordinator is None:
            return
        self._led_formerly.pop(partition.partition, None)
        coordinator.resign(partition.partition.partition, partition.leader_epoch)

    def marker_replicated(self, partition: Partition, producer_id: int, producer_epoch: int, committed: bool) -> None:
        """Let the group coordinator commit or drop the offsets of a transaction."""
        coordinator = self._coordinators.get(partition.partition.topic)
        if coordinator is not None:
            coordinator.marker_written(partition.partition.partition, producer_id, producer_epoch, committed)
