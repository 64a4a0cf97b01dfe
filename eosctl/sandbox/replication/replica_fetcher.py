"""Fetch from a leader: an incremental session, and truncation by leader epoch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.ports import Channel
from eosctl.sandbox.replication.partition import Partition, place_of
from eosctl.sandbox.replication.replica_manager import ReplicaManager
from eosctl.sandbox.runtime import NodeRuntime
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
    ReplicaState,
)
from eosctl.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic

FETCH_VERSION = 17
LIST_OFFSETS_VERSION = 9
RETRY_MS = 20
MAX_BYTES = 10_485_760
EARLIEST, LATEST = -2, -1


class Followed:
    """A fetched partition. `sent` is the last state sent to the session, None to send it again.

    `sent_in` is the request that sent it, `is_known` whether the session has the partition.
    """

    __slots__ = ("is_known", "partition", "sent", "sent_in")

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.is_known = False
        self.sent: FetchPartition | None = None
        self.sent_in = 0


class FetcherSettings:
    """State of the fetcher manager that its fetchers share.

    Attributes:
        broker_epoch: The epoch of this broker, sent with each fetch (KIP-903).
        trusts_high_watermark: Whether a new follower truncates its log to its own high watermark instead of asking for
            the leader epoch, as before KIP-101 (0.11). That loses acknowledged records and lets replicas diverge.
    """

    def __init__(self) -> None:
        self.broker_epoch = -1
        self.trusts_high_watermark = False


class ReplicaFetcher:
    """Fetches all partitions that this broker follows from one leader.

    A change of partitions immediately sends a request in the same session. The earlier request keeps waiting at the
    leader: its response is applied, but does not trigger another request.

    Attributes:
        changed: Partitions whose state the next request may have to send.
        followed: Fetched partitions by key (`place_of`).
    """

    def __init__(
        self,
        settings: FetcherSettings,
        replicas: ReplicaManager,
        runtime: NodeRuntime,
        channel: Channel,
        leader_id: int,
        max_wait_ms: int,
    ) -> None:
        self._settings = settings
        self._replicas = replicas
        self._runtime = runtime
        self._channel = channel
        self._leader_id = leader_id
        self._max_wait_ms = max_wait_ms
        self._by_name: dict[TopicPartition, Followed] = {}
        self.followed: dict[bytes, Followed] = {}
        self.changed: dict[Followed, None] = {}
        self._forgotten: list[tuple[bytes, int]] = []  # Topic id and partition, to be removed from the session.
        self._paused: set[Followed] = set()
        self._session_id = 0
        self._session_epoch = 0
        self._latest = 0  # The request whose response triggers the next one; 0 if none is in progress.
        self._count = 0
        self._sent_in_turn = 0
        self._waking = False

    def waits_with(self, session_id: int, session_epoch: int) -> bool:
        """Return whether the waiting fetch of this session is the latest of this follower."""
        return (
            self._latest != 0
            and not self._waking
            and self._session_id == session_id
            and self._session_epoch == session_epoch + 1
        )

    def follows(self, partition: Partition) -> bool:
        """Return whether the partition is fetched here."""
        return self._find(partition) is not None

    def _find(self, partition: Partition) -> Followed | None:
        found = self._by_name.get(partition.partition)
        return found if found is not None and found.partition is partition else None

    def add(self, partition: Partition) -> None:
        """Start to fetch a partition."""
        followed = self._find(partition)
        if followed is None:
            self._let_go(partition.partition)
            followed = self._by_name[partition.partition] = Followed(partition)
            self.followed[place_of(partition.topic_id, partition.partition.partition)] = followed
        self._paused.discard(followed)
        followed.sent = None
        self.changed[followed] = None
        self._wake()

    def remove(self, partition: Partition) -> None:
        """Stop fetching a partition."""
        self._let_go(partition.partition)

    def _let_go(self, name: TopicPartition) -> None:
        followed = self._by_name.pop(name, None)
        if followed is not None:
            self._forget(followed)
            del self.followed[place_of(followed.partition.topic_id, name.partition)]
            self._paused.discard(followed)
            self.changed.pop(followed, None)

    def _forget(self, followed: Followed) -> None:
        """Remove a partition from the session, which would otherwise report it repeatedly without waiting."""
        followed.sent = None
        if followed.is_known:
            followed.is_known = False
            self._forgotten.append((followed.partition.topic_id, followed.partition.partition.partition))

    def _forget_session(self) -> None:
        self._session_epoch = 0
        for followed in self._by_name.values():
            followed.sent = None
            followed.is_known = False
        self._forgotten.clear()

    def restart(self) -> None:
        """Replace this session with a new one."""
        self._forget_session()
        self._wake()

    def _wake(self) -> None:
        if not self._waking:
            self._waking = True
            self._runtime.call_soon(self._send)

    # --- requests -----------------------------------------------------------------------------------------------

    def _send(self) -> None:
        self._waking = False
        if len(self._paused) >= len(self._by_name):
            self._latest = 0  # Nothing to fetch; a leader responds to an empty fetch immediately.
            return
        if not self._session_epoch:
            self._forget_session()
            self.changed = dict.fromkeys(self._by_name.values())  # A new session starts with all partitions.
        self._count += 1
        topics: dict[bytes, list[FetchPartition]] = {}
        count, paused = self._count, self._paused
        for followed in self.changed:
            if paused and followed in paused:
                continue
            partition = followed.partition
            wanted = self._wanted(partition)
            if followed.sent != wanted:
                followed.sent, followed.sent_in, followed.is_known = wanted, count, True
                of_topic = topics.get(partition.topic_id)
                if of_topic is None:
                    topics[partition.topic_id] = [wanted]
                else:
                    of_topic.append(wanted)
        self.changed.clear()
        forgotten: dict[bytes, list[int]] = {}
        for topic_id, index in self._forgotten:
            again = self.followed.get(place_of(topic_id, index))
            if again is not None and again not in self._paused:
                continue  # The partition was added again before its removal was sent.
            forgotten.setdefault(topic_id, []).append(index)
        self._forgotten.clear()
        request = FetchRequest(
            max_wait_ms=self._max_wait_ms,
            min_bytes=1,
            max_bytes=MAX_BYTES,
            session_id=self._session_id,
            session_epoch=self._session_epoch,
            topics=[FetchTopic("", topic_id, partitions) for topic_id, partitions in topics.items()],
            forgotten_topics_data=[ForgottenTopic("", topic_id, indexes) for topic_id, indexes in forgotten.items()],
            replica_state=ReplicaState(self._replicas.broker_id, self._settings.broker_epoch),
        )
        self._latest = self._count
        self._sent_in_turn = self._runtime.ticks.turn
        if self._session_epoch:
            self._session_epoch += 1
        self._channel.send(self._leader_id, ApiKey.FETCH, FETCH_VERSION, request, partial(self._answered, self._latest))

    def _wanted(self, partition: Partition) -> FetchPartition:
        log = partition.log
        return FetchPartition(
            partition.partition.partition,
            partition.leader_epoch,
            log.store.log_end_offset,
            -1 if self._settings.trusts_high_watermark else log.epochs.latest,
            log.store.log_start_offset,
            MAX_BYTES,
        )

    # --- answers ------------------------------------------------------------------------------------------------

    def _answered(self, number: int, response: Any | None) -> None:
        is_latest = number == self._latest
        if response is None:
            if is_latest:
                self._fail()
            return
        if response.error_code:
            if is_latest:
                self.restart()
            return
        if is_latest and response.session_id and not self._session_epoch:
            self._session_id = response.session_id
            self._session_epoch = 1
        is_news = self._apply_responses(response.responses, number)
        if is_latest:
            self._latest = 0
            if not is_news and self._runtime.ticks.turn == self._sent_in_turn:
                self._runtime.call_later(RETRY_MS, self._retry)  # This turn would never end.
            else:
                self._wake()

    def _apply_responses(self, responses: Sequence[FetchableTopicResponse], number: int) -> bool:
        """Apply a response; return whether it contains any partition that is fetched from this leader."""
        now_ms, leader_id, is_news = self._runtime.now_ms(), self._leader_id, False
        for topic in responses:
            for data in topic.partitions:
                followed = self.followed.get(place_of(topic.topic_id, data.partition_index))
                if followed is None:
                    self._forgotten.append((topic.topic_id, data.partition_index))
                elif followed.partition.leader_id == leader_id:
                    is_news = True
                    if data.error_code or data.diverging_epoch.epoch >= 0:
                        self._handle_top_level_error(followed, data, number)
                    else:
                        self._take(followed, data, now_ms)
        return is_news

    def _fail(self) -> None:
        self._latest = 0
        self._forget_session()
        self._runtime.call_later(RETRY_MS, self._retry)

    def _retry(self) -> None:
        if not self._latest and not self._waking:
            self._send()

    def _take(self, followed: Followed, data: PartitionData, now_ms: int) -> None:
        partition = followed.partition
        log = partition.log
        store, records = log.store, data.records
        if records:
            sent = followed.sent
            if sent is not None and sent.fetch_offset == store.log_end_offset:
                log.append_as_follower(records, now_ms)
                self.changed[followed] = None
        high_watermark, end_offset, start_offset = data.high_watermark, store.log_end_offset, data.log_start_offset
        if high_watermark > end_offset:
            high_watermark = end_offset
        if high_watermark > log.high_watermark:
            log.advance_high_watermark(high_watermark)
            if partition.watchers:  # Consumers that read from this follower.
                partition.notify_watchers()
        if start_offset > store.log_start_offset:
            log.advance_start_offset(start_offset)
            self.changed[followed] = None

    def _handle_top_level_error(self, followed: Followed, data: PartitionData, number: int) -> None:
        if followed.sent is None or number < followed.sent_in:
            return  # For an earlier offset of this follower (AbstractFetcherThread compares offsets, too).
        if data.error_code:
            self._handle_error(followed, ErrorCode(data.error_code))
            return
        log = followed.partition.log
        _, own_end = log.epochs.end_offset_for(data.diverging_epoch.epoch, log.end_offset)
        end = data.diverging_epoch.end_offset
        end = min(end, own_end) if own_end >= 0 else end
        self._replicas.events.truncates(followed.partition, end, data.diverging_epoch.epoch)
        log.truncate_to(end)
        followed.sent = None
        self.changed[followed] = None

    def _handle_error(self, followed: Followed, error: ErrorCode) -> None:
        partition = followed.partition
        self._paused.add(followed)
        self._forget(followed)
        if error is ErrorCode.OFFSET_OUT_OF_RANGE:
            self._find_offsets(partition)
        else:
            self._runtime.call_later(RETRY_MS, partial(self._resume, partition))

    def _resume(self, partition: Partition) -> None:
        followed = self._find(partition)
        if followed is not None:
            self._paused.discard(followed)
            self.changed[followed] = None
            self._wake()

    # --- out of range: the leader deleted what this follower needs, or has less than it ---------------------------

    def _find_offsets(self, partition: Partition) -> None:
        self._list_offset(partition, LATEST, partial(self._have_latest, partition))

    def _list_offset(self, partition: Partition, timestamp: int, done: Any) -> None:
        index = partition.partition.partition
        request = ListOffsetsRequest(
            self._replicas.broker_id,
            0,
            [
                ListOffsetsTopic(
                    partition.partition.topic, [ListOffsetsPartition(index, partition.leader_epoch, timestamp)]
                )
            ],
        )
        self._channel.send(self._leader_id, ApiKey.LIST_OFFSETS, LIST_OFFSETS_VERSION, request, done)

    def _is_paused(self, partition: Partition) -> bool:
        return self._find(partition) in self._paused

    def _have_latest(self, partition: Partition, response: Any | None) -> None:
        if not self._is_paused(partition):
            return  # The partition has another leader by now.
        offset = _listed_offset(response)
        if offset is None:
            self._runtime.call_later(RETRY_MS, partial(self._resume, partition))
        elif offset < partition.log.end_offset:
            self._replicas.events.resets(partition, offset)
            partition.log.truncate_to(offset)
            self._resume(partition)
        else:
            self._list_offset(partition, EARLIEST, partial(self._have_earliest, partition))

    def _have_earliest(self, partition: Partition, response: Any | None) -> None:
        if not self._is_paused(partition):
            return
        offset = _listed_offset(response)
        if offset is not None and offset > partition.log.end_offset:
            partition.log.restart_at(offset)
        self._runtime.call_later(RETRY_MS if offset is None else 0, partial(self._resume, partition))


def _listed_offset(response: Any | None) -> int | None:
    if response is None:
        return None
    answer = response.topics[0].partitions[0]
    return None if answer.error_code else int(answer.offset)
