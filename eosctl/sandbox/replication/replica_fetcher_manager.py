"""The fetchers of a broker: every followed partition belongs to the fetcher of its leader."""

from __future__ import annotations

from eosctl.sandbox.ports import Channel
from eosctl.sandbox.replication.partition import Partition
from eosctl.sandbox.replication.replica_fetcher import FetcherSettings, ReplicaFetcher
from eosctl.sandbox.replication.replica_manager import ReplicaManager
from eosctl.sandbox.runtime import NodeRuntime


class ReplicaFetcherManager(FetcherSettings):
    """Assigns followed partitions to fetchers (a `RoleListener`; Kafka's `ReplicaFetcherManager`)."""

    def __init__(self, replicas: ReplicaManager, runtime: NodeRuntime, channel: Channel, max_wait_ms: int) -> None:
        super().__init__()
        self._replicas = replicas
        self._runtime = runtime
        self._channel = channel
        self._max_wait_ms = max_wait_ms
        self._fetchers: dict[int, ReplicaFetcher] = {}

    def became_leader(self, partition: Partition) -> None:
        """Stop fetching, since this broker leads."""
        self._remove(partition)

    def became_follower(self, partition: Partition) -> None:
        """Fetch from the new leader; stop if the partition is no longer hosted or has no leader."""
        leader = partition.leader_id
        hosted = self._replicas.partitions.get(partition.partition) is partition
        for leader_id, fetcher in self._fetchers.items():
            if leader_id != leader or not hosted:
                fetcher.remove(partition)
        if hosted and leader >= 0 and leader != self._replicas.broker_id:
            fetcher = self._make_fetcher(leader)
            if self.trusts_high_watermark and not fetcher.follows(partition):
                partition.log.truncate_to(partition.log.high_watermark)
            fetcher.add(partition)

    def marker_replicated(self, partition: Partition, producer_id: int, producer_epoch: int, committed: bool) -> None:
        """Do nothing: followers fetch markers as records."""

    def leader_changed_state(self, broker_id: int) -> None:
        """Retry a leader that was unreachable."""
        fetcher = self._fetchers.get(broker_id)
        if fetcher is not None:
            fetcher.restart()

    def fetcher_of(self, leader_id: int) -> ReplicaFetcher | None:
        """Return the fetcher for a leader that can push records to it; None if it has none or must fetch."""
        return None if self.trusts_high_watermark else self._fetchers.get(leader_id)

    def _make_fetcher(self, leader_id: int) -> ReplicaFetcher:
        found = self._fetchers.get(leader_id)
        if found is None:
            found = self._fetchers[leader_id] = ReplicaFetcher(
                self, self._replicas, self._runtime, self._channel, leader_id, self._max_wait_ms
            )
        return found

    def _remove(self, partition: Partition) -> None:
        for fetcher in self._fetchers.values():
            fetcher.remove(partition)
