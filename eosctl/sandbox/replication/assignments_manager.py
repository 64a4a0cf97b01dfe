"""Report the directories of a broker's replicas to the controller (`AssignmentsManager`, KIP-858)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.log.directories import LogDirectories
from eosctl.sandbox.log.directory import LogDirectory
from eosctl.sandbox.metadata.image import ClusterImage, directory_of
from eosctl.sandbox.ports import Channel
from eosctl.sandbox.replication.partition import Partition
from eosctl.sandbox.runtime import NodeRuntime
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    DirectoryData,
    PartitionData,
    TopicData,
)

VERSION = 0
RETRY_MS = 50


class AssignmentsManager:
    """Sends changed assignments together; retries those that the controller rejected."""

    def __init__(
        self,
        broker_id: int,
        runtime: NodeRuntime,
        channel: Channel,
        directories: LogDirectories,
        broker_epoch: Callable[[], int],
    ) -> None:
        self._broker_id = broker_id
        self._runtime = runtime
        self._channel = channel
        self._directories = directories
        self._broker_epoch = broker_epoch
        self._waiting: dict[tuple[bytes, int], bytes] = {}  # (Topic id, partition) to directory id.
        self._sent: dict[tuple[bytes, int], bytes] = {}
        self._scheduled = False

    def reconcile(self, image: ClusterImage, partitions: Iterable[TopicPartition]) -> None:
        """Report replicas that are not where the metadata has them, e.g. after a disk was replaced."""
        for name in partitions:
            state, home = image.partition(name), self._directories.directory_of_log(name)
            topic_id = image.topic_id(name.topic)
            if state is None or home is None or topic_id is None or self._broker_id not in state.replicas:
                continue
            if directory_of(state, self._broker_id) != home.directory_id:
                self.assign(topic_id, name.partition, home.directory_id)

    def moved(self, partition: Partition, directory: LogDirectory) -> None:
        """Report a replica that was moved."""
        self.assign(partition.topic_id, partition.partition.partition, directory.directory_id)

    def assign(self, topic_id: bytes, partition: int, directory_id: bytes) -> None:
        """Report a replica's directory, unless the report is in progress."""
        key = topic_id, partition
        if self._waiting.get(key, self._sent.get(key)) != directory_id:
            self._waiting[key] = directory_id
            self._schedule(0)

    def _schedule(self, delay_ms: float) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._runtime.call_later(delay_ms, self._send)

    def _send(self) -> None:
        self._scheduled = False
        if self._sent or not self._waiting:
            return
        self._sent, self._waiting = self._waiting, {}
        directories: dict[bytes, dict[bytes, list[PartitionData]]] = {}
        for (topic_id, index), directory_id in self._sent.items():
            directories.setdefault(directory_id, {}).setdefault(topic_id, []).append(PartitionData(index))
        request = AssignReplicasToDirsRequest(
            self._broker_id,
            self._broker_epoch(),
            [
                DirectoryData(directory_id, [TopicData(topic_id, indexes) for topic_id, indexes in topics.items()])
                for directory_id, topics in directories.items()
            ],
        )
        self._channel.send_to_controller(ApiKey.ASSIGN_REPLICAS_TO_DIRS, VERSION, request, self._answered)

    def _answered(self, response: Any | None) -> None:
        sent, self._sent = self._sent, {}
        if response is None or response.error_code:  # There is no controller, or it does not know this broker yet.
            self._waiting = sent | self._waiting
            self._schedule(RETRY_MS)
        elif self._waiting:
            self._schedule(0)
