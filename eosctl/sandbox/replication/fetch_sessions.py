"""Incremental fetch sessions: the requested partitions, and the last values sent to the client (KIP-227)."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from operator import attrgetter
from typing import NamedTuple

from eosctl.sandbox.replication.partition import FetchWatcher, Follower, Partition, place_of
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.fetch import FetchPartition, FetchRequest, PartitionData

NO_SESSION_ID = 0
FINAL_EPOCH = -1
INITIAL_EPOCH = 0
MAX_EPOCH = 0x7FFF_FFFF
FIRST_TOPIC_ID_VERSION = 13


class FetchKey(NamedTuple):
    """The key of a partition in a fetch: its name up to version 12, its topic id from 13."""

    topic: str
    topic_id: bytes
    partition: int


class WaitingFetch(ABC):
    """A fetch that waits for its session's partitions; a base class, since compiled code calls its method directly."""

    __slots__ = ()

    @abstractmethod
    def check_again(self) -> None:
        """Check the partitions again soon, since one has changed."""


class CachedPartition(FetchWatcher):
    """A partition of a session, with the last values requested and sent. It watches the hosted partition."""

    __slots__ = (
        "follower",
        "high_watermark",
        "key",
        "log_start_offset",
        "order",
        "place",
        "request",
        "session",
        "topic",
        "watched",
    )

    def __init__(self, session: FetchSession, key: FetchKey, request: FetchPartition, order: int) -> None:
        self.session = session
        self.key = key
        self.topic = (key.topic, key.topic_id)
        self.place = place_of(key.topic_id, key.partition)
        self.request = request
        self.order = order  # Position in the serving order.
        self.high_watermark = -1
        self.log_start_offset = -1
        self.watched: Partition | None = None
        self.follower: Follower | None = None  # For a follower's session: whether its offset equals the log end offset.

    def watch(self, partition: Partition | None) -> None:
        """Watch a partition instead of the previous one."""
        if partition is not self.watched:
            if self.watched is not None:
                self.watched.unwatch(self)
            if partition is not None:
                partition.watch(self)
            self.watched = partition

    def check_again(self) -> None:
        """Record any change of the partition."""
        session = self.session
        if self not in session.unsettled:
            self._unsettle()
        for fetch in session.waiting:
            fetch.check_again()

    def appended(self) -> None:
        """Record that a follower can read more."""
        session = self.session
        if session.is_follower:
            unsettled = session.unsettled
            if self not in unsettled:
                unsettled[self] = None
                if self.follower is not None:
                    self.follower.idled(session.used_ms)
            for fetch in session.waiting:
                fetch.check_again()

    def high_watermark_moved(self) -> None:
        """Record that a consumer can read more.

        A follower receives the high watermark with the next records, or when its wait is over (since KAFKA-9731).
        """
        session = self.session
        if session.is_follower:
            session.risen[self] = None
        else:
            self.check_again()

    def _unsettle(self) -> None:
        session, follower = self.session, self.follower
        session.unsettled[self] = None
        if follower is not None:
            follower.idled(session.used_ms)

    def lose(self) -> None:
        """Record that this broker no longer hosts the partition, and release its log."""
        self.watched = None
        self.check_again()

    @property
    def is_up_to_date(self) -> bool:
        """Return whether the client has the current high watermark and log start offset."""
        if self.watched is None:
            return True
        log = self.watched.log
        return self.high_watermark == log.high_watermark and self.log_start_offset == log.start_offset

    def must_respond(self, data: PartitionData) -> bool:
        """Return whether an incremental response contains this partition; record the values that are sent."""
        has_changes = self.has_changes(data)
        self.high_watermark = -1 if data.error_code else data.high_watermark
        self.log_start_offset = data.log_start_offset
        return has_changes

    def has_changes(self, data: PartitionData) -> bool:
        """Return whether an incremental response contains this partition."""
        return (
            data.high_watermark != self.high_watermark
            or bool(data.records)
            or data.log_start_offset != self.log_start_offset
            or bool(data.error_code)
            or data.diverging_epoch.epoch >= 0
            or data.preferred_read_replica >= 0
        )


class FetchSession:
    """A fetch session, or the partitions of a sessionless fetch.

    A fetch checks only the `unsettled` partitions: those newly requested, changed, or not completely sent. The others
    cost nothing.

    Attributes:
        risen: In a follower's session, the partitions with a higher high watermark and possibly no other change.
        turn: The last turn of the event loop in which records were pushed to the follower.
    """

    __slots__ = (
        "_order",
        "epoch",
        "is_follower",
        "partitions",
        "risen",
        "session_id",
        "turn",
        "unsettled",
        "used_ms",
        "uses_topic_ids",
        "waiting",
    )

    def __init__(self, session_id: int, uses_topic_ids: bool, now_ms: int, *, is_follower: bool) -> None:
        self.session_id = session_id
        self.is_follower = is_follower
        self.uses_topic_ids = uses_topic_ids
        self.epoch = 1
        self.partitions: dict[tuple[str, bytes, int], CachedPartition] = {}  # By FetchKey.
        self.unsettled: dict[CachedPartition, None] = {}
        self.risen: dict[CachedPartition, None] = {}
        self.turn = 0
        self.waiting: dict[WaitingFetch, None] = {}
        self.used_ms = now_ms
        self._order = 0

    def update(self, request: FetchRequest) -> None:
        """Apply the added, changed, and forgotten partitions of an incremental fetch."""
        for topic in request.topics:
            for partition in topic.partitions:
                cached = self.partitions.get((topic.topic, topic.topic_id, partition.partition))
                if cached is None:
                    self._order += 1
                    key = FetchKey(topic.topic, topic.topic_id, partition.partition)
                    cached = self.partitions[key] = CachedPartition(self, key, partition, self._order)
                else:
                    cached.request = partition
                self.unsettled[cached] = None
        for forgotten in request.forgotten_topics_data:
            for index in forgotten.partitions:
                cached = self.partitions.pop(FetchKey(forgotten.topic, forgotten.topic_id, index), None)
                if cached is not None:
                    cached.watch(None)
                    self.unsettled.pop(cached, None)
                    self.risen.pop(cached, None)

    def to_serve(self) -> list[CachedPartition]:
        """Return the unsettled partitions in serving order."""
        self.unsettle_risen()
        return sorted(self.unsettled, key=_ORDER)

    def unsettle_risen(self) -> None:
        """Mark the partitions with a higher high watermark as unsettled."""
        if self.risen:
            self.unsettled.update(self.risen)
            self.risen.clear()

    def move_to_end(self, cached: CachedPartition) -> None:
        """Move a partition to the end of the serving order."""
        self._order += 1
        cached.order = self._order

    def close(self) -> None:
        """Release every partition."""
        for cached in self.partitions.values():
            cached.watch(None)
        self.partitions.clear()
        self.unsettled.clear()
        self.risen.clear()


_ORDER = attrgetter("order")


def replica_of(request: FetchRequest) -> int:
    """Return the broker id of a follower's fetch, a negative number for a consumer (two fields, KIP-903)."""
    return request.replica_id if request.replica_id >= 0 else request.replica_state.replica_id


class FetchContext(NamedTuple):
    """The partitions of a fetch; `incremental` is whether the response contains only changes."""

    session: FetchSession
    incremental: bool


class FetchSessions:
    """The sessions of a broker, at most `max.incremental.fetch.session.cache.slots`."""

    def __init__(self, chance: random.Random, slots: int, eviction_ms: int) -> None:
        self._random = chance
        self._slots = slots
        self._eviction_ms = eviction_ms
        self._sessions: dict[int, FetchSession] = {}

    def open(self, request: FetchRequest, version: int, now_ms: int) -> FetchContext | ErrorCode:
        """Return the partitions of a fetch, or a top-level error if its session is invalid."""
        if request.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            if request.session_id:
                self._close(request.session_id)
            session_id = self._reserve(now_ms) if request.session_epoch == INITIAL_EPOCH else NO_SESSION_ID
            session = FetchSession(
                session_id, version >= FIRST_TOPIC_ID_VERSION, now_ms, is_follower=replica_of(request) >= 0
            )
            if session_id != NO_SESSION_ID:
                self._sessions[session_id] = session
            session.update(request)
            return FetchContext(session, False)
        found = self._sessions.get(request.session_id)
        if found is None:
            return ErrorCode.FETCH_SESSION_ID_NOT_FOUND
        if found.epoch != request.session_epoch:
            return ErrorCode.INVALID_FETCH_SESSION_EPOCH
        if found.uses_topic_ids != (version >= FIRST_TOPIC_ID_VERSION):
            return ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
        found.update(request)
        found.epoch = 1 if found.epoch == MAX_EPOCH else found.epoch + 1
        found.used_ms = now_ms
        return FetchContext(found, True)

    def close(self, session: FetchSession) -> None:
        """End a session, as if it had never been opened."""
        self._sessions.pop(session.session_id, None)
        session.close()

    def _reserve(self, now_ms: int) -> int:
        """Return an id for a new session, or NO_SESSION_ID without a free slot."""
        if len(self._sessions) >= self._slots and not self._evict(now_ms):
            return NO_SESSION_ID
        session_id = NO_SESSION_ID
        while session_id == NO_SESSION_ID or session_id in self._sessions:
            session_id = self._random.randrange(1, MAX_EPOCH)
        return session_id

    def _evict(self, now_ms: int) -> bool:
        oldest = min(self._sessions.values(), key=lambda session: session.used_ms)
        if now_ms - oldest.used_ms < self._eviction_ms:
            return False
        self._close(oldest.session_id)
        return True

    def _close(self, session_id: int) -> None:
        session = self._sessions.pop(session_id, None)
        if session is not None:
            session.close()
