"""Fetch (key 1, versions 4 to 18; 3.9 serves 0 to 17): records of partitions that this broker leads.

KIP-98 (isolation level, aborted transactions), KIP-227 (sessions), KIP-320 (leader epochs), KIP-392, KIP-516 (topic
ids from version 13), KIP-595 (diverging epochs), KIP-951 (current leader from version 16).

- Consumers read up to the high watermark, or to the last stable offset at isolation level 1; followers to the end.
- The first batch of the first partition with data comes even when it is larger than the limits.
- The answer waits for ``min_bytes`` up to ``max_wait_ms``; an error, a lost leadership or, for a follower, a newer
  high watermark ends the wait.
- Not done: reading from followers (``replica.selector.class``), quotas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.ports import METADATA_TOPIC, RequestContext
from eosctl.sandbox.replication.fetch_sessions import FIRST_TOPIC_ID_VERSION, FetchContext, FetchKey, respond
from eosctl.sandbox.replication.partition import Partition
from eosctl.sandbox.replication.reading import fetch_error, read_partition, upper_bound, with_current_leader
from eosctl.sandbox.runtime import NodeTimer
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    NodeEndpoint,
    PartitionData,
)
from eosctl.wire.uuid import ZERO_UUID

if TYPE_CHECKING:
    from eosctl.sandbox.broker.broker import Broker

FIRST_CURRENT_LEADER_VERSION = 16
READ_COMMITTED = 1
LEADER_ERRORS = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


def handle(broker: Broker, context: RequestContext, request: FetchRequest) -> None:
    """Answer a fetch, now or when there is enough to answer with."""
    version = context.api_version
    opened = broker.fetch_sessions.open(request, version, broker.runtime.now_ms())
    if isinstance(opened, ErrorCode):
        context.reply(FetchResponse(error_code=opened))
        return
    Fetch(broker, context, request, opened).start()


class Fetch:
    """One fetch from request to answer; a watcher of its partitions while it waits."""

    __slots__ = (
        "_broker",
        "_context",
        "_done",
        "_opened",
        "_poked",
        "_replica_id",
        "_request",
        "_targets",
        "_timer",
    )

    def __init__(self, broker: Broker, context: RequestContext, request: FetchRequest, opened: FetchContext) -> None:
        self._broker = broker
        self._context = context
        self._request = request
        self._opened = opened
        self._replica_id = request.replica_id if request.replica_id >= 0 else request.replica_state.replica_id
        self._targets: list[tuple[FetchKey, FetchPartition, Partition | PartitionData]] = []
        self._timer: NodeTimer | None = None
        self._poked = False
        self._done = False

    def start(self) -> None:
        """Answer at once when possible, else wait."""
        self._targets = [(key, asked, self._locate(key, asked)) for key, asked in self._opened.partitions]
        needs_high_watermark = self._replica_id >= 0 and self._note_follower()
        if not self._targets or self._request.max_wait_ms <= 0 or needs_high_watermark:
            self._finish()
            return
        if self._try_finish():
            return
        for _, _, target in self._targets:
            if isinstance(target, Partition):
                target.watch(self)
        self._timer = self._broker.runtime.call_later(self._request.max_wait_ms, self._finish)

    def poke(self) -> None:
        """Look again at the end of what this turn is doing."""
        if not self._poked and not self._done:
            self._poked = True
            self._broker.runtime.call_soon(self._look)

    def _look(self) -> None:
        self._poked = False
        if not self._done:
            for key, asked, target in self._targets:
                if isinstance(target, Partition) and self._locate(key, asked) is not target:
                    self._finish()
                    return
            self._try_finish()

    def _locate(self, key: FetchKey, asked: FetchPartition) -> Partition | PartitionData:
        broker = self._broker
        name = key.topic
        if key.topic_id != ZERO_UUID or self._context.api_version >= FIRST_TOPIC_ID_VERSION:
            name = broker.metadata.topic_name(key.topic_id) or ""
            if not name:
                return fetch_error(asked.partition, ErrorCode.UNKNOWN_TOPIC_ID)
        found = broker.replicas.leader(TopicPartition(name, asked.partition))
        if isinstance(found, Partition):
            return found
        if name == METADATA_TOPIC:
            found = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return fetch_error(asked.partition, found)

    def _note_follower(self) -> bool:
        """Note how far the follower is; whether it must learn of a newer high watermark at once."""
        behind = False
        for _, asked, target in self._targets:
            if isinstance(target, Partition):
                behind |= self._broker.isr.follower_fetched(target, self._replica_id, asked, self._request)
        return behind

    def _try_finish(self) -> bool:
        """Answer when the wait is over: enough bytes, or an error."""
        request = self._request
        available = False
        for _, asked, target in self._targets:
            if not isinstance(target, Partition):
                self._finish()
                return True
            if upper_bound(target, request.isolation_level, self._replica_id) != asked.fetch_offset:
                available = True
        if not available and request.min_bytes > 0:
            return False
        results = self._read()
        size = sum([len(data.records) for _, data in results if data.records])
        if size >= request.min_bytes or any(data.error_code or data.diverging_epoch.epoch >= 0 for _, data in results):
            self._answer(results)
            return True
        return False

    def _finish(self) -> None:
        if not self._done:
            self._answer(self._read())

    def _read(self) -> list[tuple[FetchKey, PartitionData]]:
        request = self._request
        left = request.max_bytes
        at_least_one = True
        results = []
        for key, asked, target in self._targets:
            if isinstance(target, Partition):
                if not target.is_leader:
                    data = fetch_error(asked.partition, ErrorCode.NOT_LEADER_OR_FOLLOWER)
                else:
                    data = read_partition(target, asked, request.isolation_level, self._replica_id, left, at_least_one)
                    if data.records:
                        left = max(0, left - len(data.records))
                        at_least_one = False
            else:
                data = target
            results.append((key, data))
        return results

    def _answer(self, results: list[tuple[FetchKey, PartitionData]]) -> None:
        self._done = True
        if self._timer is not None:
            self._timer.cancel()
            for _, _, target in self._targets:
                if isinstance(target, Partition):
                    target.unwatch(self)
        chosen = respond(self._opened, results)
        endpoints: dict[int, NodeEndpoint] = {}
        topics: dict[tuple[str, bytes], list[PartitionData]] = {}
        for key, data in chosen:
            if data.error_code in LEADER_ERRORS and self._context.api_version >= FIRST_CURRENT_LEADER_VERSION:
                data = self._point_to_leader(key, data, endpoints)
            topics.setdefault((key.topic, key.topic_id), []).append(data)
        if self._replica_id >= 0:
            self._broker.isr.answered(self._replica_id, self._targets_of(chosen))
        self._context.reply(
            FetchResponse(
                0,
                0,
                self._opened.session_id,
                [FetchableTopicResponse(name, topic_id, data) for (name, topic_id), data in topics.items()],
                list(endpoints.values()),
            )
        )

    def _targets_of(self, chosen: list[tuple[FetchKey, PartitionData]]) -> list[Partition]:
        keys = {key for key, _ in chosen}
        return [target for key, _, target in self._targets if isinstance(target, Partition) and key in keys]

    def _point_to_leader(self, key: FetchKey, data: PartitionData, endpoints: dict[int, NodeEndpoint]) -> PartitionData:
        broker = self._broker
        name = key.topic or broker.metadata.topic_name(key.topic_id) or ""
        leadership = broker.metadata.leadership(TopicPartition(name, data.partition_index))
        if leadership is None:
            return data
        endpoint = broker.endpoint_of(leadership.leader_id, self._context.listener)
        if endpoint is not None:
            endpoints[leadership.leader_id] = NodeEndpoint(
                leadership.leader_id, endpoint.host, endpoint.port, endpoint.rack
            )
        return with_current_leader(data, leadership.leader_id, leadership.leader_epoch)
