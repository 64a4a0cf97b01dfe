"""Incremental fetch sessions (KIP-227): what a client asked for and what it was told last."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.fetch import FetchPartition, FetchRequest, PartitionData
from eosctl.wire.uuid import ZERO_UUID

FINAL_EPOCH = -1
INITIAL_EPOCH = 0
MAX_EPOCH = 0x7FFF_FFFF
FIRST_TOPIC_ID_VERSION = 13


class FetchKey(NamedTuple):
    """A partition as a fetch names it: by name up to version 12, by id after it."""

    topic: str
    topic_id: bytes
    partition: int


class CachedPartition:
    """One partition of a session."""

    __slots__ = ("high_watermark", "log_start_offset", "request")

    def __init__(self, request: FetchPartition) -> None:
        self.request = request
        self.high_watermark = -1
        self.log_start_offset = -1

    def must_respond(self, data: PartitionData) -> bool:
        """Whether an incremental answer contains this partition; remembers what is sent."""
        changed = (
            bool(data.records)
            or data.error_code != ErrorCode.NONE
            or data.high_watermark != self.high_watermark
            or data.log_start_offset != self.log_start_offset
            or data.diverging_epoch.epoch >= 0
        )
        self.high_watermark = data.high_watermark if data.error_code == ErrorCode.NONE else -1
        self.log_start_offset = data.log_start_offset
        return changed


class FetchSession:
    """One session; its partitions are in the order in which they are served."""

    __slots__ = ("epoch", "partitions", "session_id", "used_ms", "uses_topic_ids")

    def __init__(self, session_id: int, uses_topic_ids: bool, now_ms: int) -> None:
        self.session_id = session_id
        self.uses_topic_ids = uses_topic_ids
        self.epoch = 1
        self.partitions: dict[FetchKey, CachedPartition] = {}
        self.used_ms = now_ms

    def update(self, request: FetchRequest) -> None:
        """Take over the partitions that an incremental fetch adds, changes or forgets."""
        for topic in request.topics:
            for partition in topic.partitions:
                key = FetchKey(topic.topic, topic.topic_id, partition.partition)
                cached = self.partitions.get(key)
                if cached is None:
                    self.partitions[key] = CachedPartition(partition)
                else:
                    cached.request = partition
        for forgotten in request.forgotten_topics_data:
            for index in forgotten.partitions:
                self.partitions.pop(FetchKey(forgotten.topic, forgotten.topic_id, index), None)


class FetchContext(NamedTuple):
    """What one fetch is about: the partitions to read and the session to answer in, if any."""

    partitions: Sequence[tuple[FetchKey, FetchPartition]]
    session: FetchSession | None
    incremental: bool
    session_id: int


class FetchSessions:
    """The sessions of one broker, bounded by ``max.incremental.fetch.session.cache.slots``."""

    def __init__(self, chance: random.Random, slots: int, eviction_ms: int) -> None:
        self._random = chance
        self._slots = slots
        self._eviction_ms = eviction_ms
        self._sessions: dict[int, FetchSession] = {}

    def open(self, request: FetchRequest, version: int, now_ms: int) -> FetchContext | ErrorCode:
        """Find what a fetch asks for; a whole-request error when its session does not allow it."""
        if request.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            if request.session_id:
                self._sessions.pop(request.session_id, None)
            partitions = [
                (FetchKey(topic.topic, topic.topic_id, partition.partition), partition)
                for topic in request.topics
                for partition in topic.partitions
            ]
            session = None
            if request.session_epoch == INITIAL_EPOCH:
                session = self._create(request, version, now_ms)
            return FetchContext(partitions, session, False, session.session_id if session else 0)
        session = self._sessions.get(request.session_id)
        if session is None:
            return ErrorCode.FETCH_SESSION_ID_NOT_FOUND
        if session.epoch != request.session_epoch:
            return ErrorCode.INVALID_FETCH_SESSION_EPOCH
        if session.uses_topic_ids != (version >= FIRST_TOPIC_ID_VERSION):
            return ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
        session.update(request)
        session.epoch = 1 if session.epoch == MAX_EPOCH else session.epoch + 1
        session.used_ms = now_ms
        asked = [(key, cached.request) for key, cached in session.partitions.items()]
        return FetchContext(asked, session, True, session.session_id)

    def _create(self, request: FetchRequest, version: int, now_ms: int) -> FetchSession | None:
        if len(self._sessions) >= self._slots and not self._evict(now_ms):
            return None
        session_id = 0
        while session_id == 0 or session_id in self._sessions:
            session_id = self._random.randrange(1, MAX_EPOCH)
        session = FetchSession(session_id, version >= FIRST_TOPIC_ID_VERSION, now_ms)
        session.update(request)
        self._sessions[session_id] = session
        return session

    def _evict(self, now_ms: int) -> bool:
        oldest = min(self._sessions.values(), key=lambda session: session.used_ms)
        if now_ms - oldest.used_ms < self._eviction_ms:
            return False
        del self._sessions[oldest.session_id]
        return True


def respond(
    context: FetchContext, results: Sequence[tuple[FetchKey, PartitionData]]
) -> list[tuple[FetchKey, PartitionData]]:
    """Choose what the answer contains; partitions with news move to the end of their session's order."""
    session = context.session
    if session is None:
        return list(results)
    chosen = []
    for key, data in results:
        cached = session.partitions.get(key)
        if cached is None:
            continue
        changed = cached.must_respond(data)
        if changed or not context.incremental:
            chosen.append((key, data))
        if data.records:
            session.partitions[key] = session.partitions.pop(key)
    return chosen


def names_topic(key: FetchKey) -> bool:
    """Whether the key names its topic rather than giving an id."""
    return key.topic_id == ZERO_UUID
