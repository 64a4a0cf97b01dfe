"""Share sessions: the partitions that a member fetches from a broker (`ShareSessionCache`, `ShareSessionContext`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from eosctl.wire.error_codes import ErrorCode

INITIAL_EPOCH: Final = 0
FINAL_EPOCH: Final = -1
_MAX_EPOCH: Final = 2**31 - 1


class SharedTopicPartition(NamedTuple):
    """A partition in a session; `topic_id` is 16 bytes."""

    topic_id: bytes
    partition: int


class ShareSession:
    """A member's partitions in the order of fetches, and whether the next response must contain each."""

    __slots__ = ("epoch", "must_respond")

    def __init__(self, partitions: Iterable[SharedTopicPartition]) -> None:
        self.epoch = 1
        self.must_respond: dict[SharedTopicPartition, bool] = dict.fromkeys(partitions, False)

    def update(self, added: Iterable[SharedTopicPartition], forgotten: Iterable[SharedTopicPartition]) -> None:
        """Add and remove partitions; new ones are in the next response."""
        for partition in added:
            self.must_respond.setdefault(partition, True)
        for partition in forgotten:
            self.must_respond.pop(partition, None)

    def responds_with(self, partition: SharedTopicPartition, *, has_records: bool, has_error: bool) -> bool:
        """Return whether an incremental response contains a partition; one with records is fetched last next time."""
        if partition not in self.must_respond:
            return has_records or has_error
        responds = has_records or has_error or self.must_respond[partition]
        self.must_respond[partition] = has_error
        if has_records:
            del self.must_respond[partition]
            self.must_respond[partition] = has_error
        return responds


class ShareSessions:
    """The share sessions of a broker, by group and member."""

    def __init__(self, max_count: int) -> None:
        self._max_count = max_count
        self._sessions: dict[tuple[str, str], ShareSession] = {}

    def find(self, group_id: str, member_id: str) -> ShareSession | None:
        """Return a member's session."""
        return self._sessions.get((group_id, member_id))

    def create(
        self, group_id: str, member_id: str, partitions: Iterable[SharedTopicPartition]
    ) -> ShareSession | ErrorCode:
        """Begin a session, which replaces the member's previous one."""
        self._sessions.pop((group_id, member_id), None)
        if len(self._sessions) >= self._max_count:
            return ErrorCode.SHARE_SESSION_LIMIT_REACHED
        session = self._sessions[group_id, member_id] = ShareSession(partitions)
        return session

    def advance(self, group_id: str, member_id: str, epoch: int) -> ShareSession | ErrorCode:
        """Check the epoch of a request in a session and advance it; the last request of a session has epoch -1."""
        session = self.find(group_id, member_id)
        if session is None:
            return ErrorCode.SHARE_SESSION_NOT_FOUND
        if epoch != FINAL_EPOCH:
            if epoch != session.epoch:
                return ErrorCode.INVALID_SHARE_SESSION_EPOCH
            session.epoch = 1 if epoch == _MAX_EPOCH else epoch + 1
        return session

    def remove(self, group_id: str, member_id: str) -> ShareSession | None:
        """End a session and return it."""
        return self._sessions.pop((group_id, member_id), None)

    def has_members(self, group_id: str) -> bool:
        """Return whether a member of the group has a session."""
        return any(key[0] == group_id for key in self._sessions)
