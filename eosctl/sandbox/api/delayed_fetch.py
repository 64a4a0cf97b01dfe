"""A fetch, from request to response: it reads what its reader may read, or waits.

- Consumers read up to the high watermark, or to the last stable offset at isolation level 1; followers to the end.
- The first batch of the first partition with data is returned even when it exceeds the limits.
- The response waits for `min_bytes` up to `max_wait_ms`. An error, a lost leadership, or a diverging log ends the wait.
  A newer high watermark does not (KAFKA-9731): a follower receives it with records, or after its `max_wait_ms`.
- From version 11, consumers may read from followers, up to the high watermark that the follower knows. With the
  RackAwareReplicaSelector, the leader redirects them to a follower in their rack (KIP-392).
- A client without sessions sends the same fetch again after a response without records. As long as its partitions do
  not change, neither is that request decoded nor its response encoded again (`broker.fetch_exchange`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.api.fetch_quota import throttled_reply
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import METADATA_TOPIC, RequestContext
from eosctl.sandbox.replication.fetch_sessions import (
    FINAL_EPOCH,
    FIRST_TOPIC_ID_VERSION,
    NO_SESSION_ID,
    CachedPartition,
    FetchContext,
    FetchKey,
    WaitingFetch,
    replica_of,
)
from eosctl.sandbox.replication.idle_partitions import IdlePartition, are_unchanged, idle_partitions
from eosctl.sandbox.replication.partition import Partition
from eosctl.sandbox.replication.reading import (
    check_leader_epoch,
    fetch_error,
    has_answer,
    is_enough,
    lacks_something,
    point_to_replica,
    read_error,
    read_partition,
    with_current_leader,
)
from eosctl.sandbox.replication.replica_selector import client_rack, select_replica
from eosctl.sandbox.replies import RepeatableReply
from eosctl.sandbox.security.access import may
from eosctl.sandbox.security.acls import CLUSTER_NAME, ResourceType
from eosctl.sandbox.timing_wheel import Pace, WheelTimer
from eosctl.sandbox.turns import SLICE, in_turns
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.fetch import FetchableTopicResponse, FetchRequest, FetchResponse, NodeEndpoint, PartitionData
from eosctl.wire.uuid import ZERO_UUID

FIRST_CURRENT_LEADER_VERSION = 16
FIRST_RACK_VERSION = 11
READ_UNCOMMITTED, READ_COMMITTED = 0, 1
Results: TypeAlias = list[tuple[CachedPartition, PartitionData]]
LEADER_ERRORS = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


class Fetch(WaitingFetch):
    """A fetch, from request to response."""

    __slots__ = (
        "_broker",
        "_context",
        "_done",
        "_idle",
        "_incremental",
        "_is_check_requested",
        "_opened",
        "_rack",
        "_repeat",
        "_replica_id",
        "_request",
        "_session",
        "_timer",
    )

    _repeat: Callable[[], None]  # Sends the kept response.

    def __init__(
        self, broker: BrokerServices, context: RequestContext, request: FetchRequest, opened: FetchContext
    ) -> None:
        self._broker = broker
        self._context = context
        self._request = request
        self._opened = opened
        self._session, self._incremental = opened
        self._replica_id = replica_of(request)
        self._rack = "" if self._replica_id >= 0 else client_rack(request.rack_id, broker.config)
        self._timer: WheelTimer | None = None
        self._is_check_requested = False
        self._done = False
        self._idle: list[IdlePartition] | None = None  # What the kept response depends on, if there is one.

    def start(self) -> None:
        """Respond immediately if possible, else wait."""
        session, max_wait_ms = self._session, self._request.max_wait_ms
        if self._replica_id >= 0:
            self._note_progress()
        if len(session.unsettled) > SLICE and self._replica_id < 0:
            in_turns(self._broker.runtime, self._start_in_turns([]))
        elif not session.partitions or max_wait_ms <= 0 or self._replica_id >= 0:
            self._finish()
        elif not self._try_finish():
            self._wait()

    def _wait(self) -> None:
        self._session.waiting[self] = None
        pace = Pace.ACT if self._replica_id < 0 else Pace.KEEP_ALIVE
        self._timer = self._broker.runtime.call_later(self._request.max_wait_ms, self._finish, pace)

    def _note_progress(self) -> bool:
        """Update the follower's progress; return whether records are missing."""
        broker, request, replica_id = self._broker, self._request, self._replica_id
        isr, now_ms, is_behind = broker.isr, broker.runtime.now_ms(), False
        for cached in self._session.to_serve():
            target = self._locate(cached)
            if isinstance(target, Partition):
                cached.follower = isr.follower_fetched(target, replica_id, cached.request, request, now_ms)
                is_behind = is_behind or lacks_something(target, cached.request)
            else:
                is_behind = True
        return is_behind

    def check_again(self) -> None:
        """Check again once all other work of this turn is done."""
        if not self._is_check_requested:
            self._is_check_requested = True
            self._broker.runtime.call_at_lull(self._look)

    def _look(self) -> None:
        self._is_check_requested = False
        if not self._done:
            self._try_finish()

    def _locate(self, cached: CachedPartition) -> Partition | PartitionData:
        broker = self._broker
        watched = cached.watched
        if watched is not None and watched.leader_id == watched.broker_id and broker.authorizer is None:
            return watched
        name, topic_id, index = cached.key
        if topic_id != ZERO_UUID or self._context.api_version >= FIRST_TOPIC_ID_VERSION:
            name = broker.metadata.topic_name(topic_id) or ""
            if not name:
                cached.watch(None)
                return fetch_error(index, ErrorCode.UNKNOWN_TOPIC_ID)
        if broker.authorizer is not None and not self._may_read(name):
            cached.watch(None)
            return fetch_error(index, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        may_follow = self._replica_id < 0 and self._context.api_version >= FIRST_RACK_VERSION
        locate = broker.replicas.readable if may_follow else broker.replicas.leader
        found = locate(TopicPartition(name, index))
        if isinstance(found, Partition):
            if self._replica_id >= 0 and self._replica_id not in found.replicas:
                cached.watch(None)
                return read_error(index, ErrorCode.NOT_LEADER_OR_FOLLOWER)
            cached.watch(found)
            return found
        cached.watch(None)
        return fetch_error(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if name == METADATA_TOPIC else found)

    def _preferred_replica(self, partition: Partition, cached: CachedPartition) -> int | None:
        if not self._rack or not partition.is_leader:
            return None
        return select_replica(partition, cached.request.fetch_offset, self._rack, self._rack_of)

    def _rack_of(self, broker_id: int) -> str | None:
        address = self._broker.endpoint_of(broker_id, self._context.listener)
        return address.rack if address is not None else None

    def _may_read(self, topic: str) -> bool:
        """Check the authorization again for every response, since a session outlives ACL changes."""
        broker, context = self._broker, self._context
        if self._replica_id >= 0:
            return may(broker, context, AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME)
        return may(broker, context, AclOperation.READ, ResourceType.TOPIC, topic)

    def _try_finish(self) -> bool:
        """Respond if the wait is over: enough bytes, an error, or a diverging log."""
        if self._request.min_bytes <= 0 or self._find_ready():
            results = self._read()
            if is_enough(results, self._request.min_bytes):
                self._answer(results)
                return True
        return False

    def _find_ready(self) -> bool:
        """Return whether reading returns records or an error; settle the partitions without either."""
        for cached in tuple(self._session.unsettled):
            target = self._locate(cached)
            if not isinstance(target, Partition) or self._has_answer(target, cached):
                return True
            if self._incremental and cached.is_up_to_date:
                self._settle(target, cached)
        return False

    def _has_answer(self, partition: Partition, cached: CachedPartition) -> bool:
        return (
            has_answer(partition, cached.request, self._request.isolation_level, self._replica_id)
            or self._preferred_replica(partition, cached) is not None
        )

    def _settle(self, partition: Partition, cached: CachedPartition) -> None:
        """Skip a partition that the reader has read to its end, until it changes.

        With an authorizer, a client's permission may be revoked at any time without a change of the partition.
        """
        if self._replica_id in partition.isr or (self._replica_id < 0 and self._broker.authorizer is None):
            self._session.unsettled.pop(cached, None)

    def _finish(self) -> None:
        if self._done:
            return
        if self._idle is not None and are_unchanged(self._idle):
            self._done = True
            self._session.waiting.pop(self, None)
            self._repeat()
        else:
            self._answer(self._read())

    def _wait_again(self) -> bool:
        """Wait for an equal fetch, unless a response to it may differ from the last one."""
        if self._idle is None or self._broker.metadata.quotas or not are_unchanged(self._idle):
            return False
        self._done = False
        self._wait()
        return True

    def _release(self) -> None:
        """End the wait, and keep no response."""
        self._done = True
        self._idle = None
        if self._timer is not None:
            self._timer.cancel()
        self._session.waiting.pop(self, None)
        self._session.close()

    def _keep(self, results: Results, response: FetchResponse) -> bool:
        """Keep the response of a fetch without a session that waited in vain; return whether it may be sent again.

        An authorizer, quotas, and racks may change it although the partitions do not.
        """
        self._idle = None
        broker, request, reply = self._broker, self._request, self._context.reply
        is_plain = request.session_epoch == FINAL_EPOCH and not request.rack_id and not request.session_id
        if not is_plain or broker.authorizer is not None or broker.metadata.quotas:
            return False
        idle = idle_partitions(results)
        if idle is None or not isinstance(reply, RepeatableReply):
            return False
        if not reply.keep(response, len(idle), self._wait_again, self._release):
            return False
        self._idle, self._repeat = idle, reply.repeat
        return True

    def _start_in_turns(self, results: Results) -> Iterator[None]:
        """Read a slice of many partitions in each turn, and respond if a fetch of few would."""
        left, at_least_one, wanted = self._request.max_bytes, True, self._session.to_serve()
        for start in range(0, len(wanted), SLICE):
            if start:
                yield
            left, at_least_one = self._read_into(results, wanted[start : start + SLICE], left, at_least_one)
        if self._request.max_wait_ms <= 0 or is_enough(results, self._request.min_bytes):
            self._answer(results)
        else:
            self._wait()

    def _read(self) -> Results:
        results: Results = []
        self._read_into(results, self._session.to_serve(), self._request.max_bytes, True)
        return results

    def _read_into(
        self, results: Results, wanted: list[CachedPartition], left: int, at_least_one: bool
    ) -> tuple[int, bool]:
        """Read partitions within `left` bytes, or a batch of any size; return what applies to further partitions."""
        request = self._request
        for cached in wanted:
            target = self._locate(cached)
            if isinstance(target, Partition):
                preferred = self._preferred_replica(target, cached)
                if preferred is not None and not check_leader_epoch(
                    cached.request.current_leader_epoch, target.leader_epoch
                ):
                    data = point_to_replica(target, cached.request.partition, preferred)
                else:
                    data = read_partition(
                        target, cached.request, request.isolation_level, self._replica_id, left, at_least_one
                    )
                if data.records:
                    left = max(0, left - len(data.records))
                    at_least_one = False
            else:
                data = target
            results.append((cached, data))
        return left, at_least_one

    def _answer(self, results: Results) -> None:
        self._done = True
        if self._timer is not None:
            self._timer.cancel()
        session, incremental, is_consumer = self._session, self._incremental, self._replica_id < 0
        session.waiting.pop(self, None)
        if is_consumer and self._broker.metadata.quotas:
            empty = throttled_reply(self._broker, self._context, self._opened, results)
            if empty is not None:
                self._context.reply(empty)
                return
        lasts = session.session_id != NO_SESSION_ID  # Otherwise nothing is noted for the next fetch.
        endpoints: dict[int, NodeEndpoint] = {}
        topics: dict[tuple[str, bytes], list[PartitionData]] = {}
        for cached, data in results:
            partition, records = cached.watched, data.records
            if not lasts or cached.must_respond(data) or not incremental:
                error = data.error_code
                if error and error in LEADER_ERRORS and self._context.api_version >= FIRST_CURRENT_LEADER_VERSION:
                    data = self._point_to_leader(cached.key, data, endpoints)
                of_topic = topics.get(cached.topic)
                if of_topic is None:
                    topics[cached.topic] = [data]
                else:
                    of_topic.append(data)
            if records:
                session.move_to_end(cached)
                if is_consumer and partition is not None:
                    partition.traffic.bytes_out += len(records)
            elif lasts and partition is not None and cached.is_up_to_date and not self._has_answer(partition, cached):
                self._settle(partition, cached)
        response = FetchResponse(
            0,
            0,
            session.session_id,
            [FetchableTopicResponse(name, topic_id, data) for (name, topic_id), data in topics.items()],
            list(endpoints.values()),
        )
        if not lasts and (self._timer is None or not self._keep(results, response)):
            session.close()
        self._context.reply(response)

    def _point_to_leader(self, key: FetchKey, data: PartitionData, endpoints: dict[int, NodeEndpoint]) -> PartitionData:
        broker = self._broker
        name = key.topic or broker.metadata.topic_name(key.topic_id) or ""
        leadership = broker.metadata.leadership(TopicPartition(name, data.partition_index))
        if leadership is None:
            return data
        leader = leadership.leader_id
        if (endpoint := broker.endpoint_of(leader, self._context.listener)) is not None:
            endpoints[leader] = NodeEndpoint(leader, endpoint.host, endpoint.port, endpoint.rack)
        return with_current_leader(data, leader, leadership.leader_epoch)
