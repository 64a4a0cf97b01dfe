"""Error codes for clients after a failed append to `__consumer_offsets`."""

from __future__ import annotations

from typing import Final

from eosctl.wire.error_codes import ErrorCode

_TOO_LARGE: Final = (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE, ErrorCode.INVALID_FETCH_SIZE)
_COMMON: Final = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
}
_OFFSETS: Final = {
    **_COMMON,
    ErrorCode.NETWORK_EXCEPTION: ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    **dict.fromkeys(_TOO_LARGE, ErrorCode.INVALID_COMMIT_OFFSET_SIZE),
}
_GROUP: Final = {**_COMMON, **dict.fromkeys(_TOO_LARGE, ErrorCode.UNKNOWN_SERVER_ERROR)}


def classify_offset_error(error: ErrorCode, is_3_9: bool) -> ErrorCode:
    """Return the error of OffsetCommit and TxnOffsetCommit (3.9: `GroupMetadataManager`, 4.x: `CoordinatorRuntime`)."""
    if error is ErrorCode.REQUEST_TIMED_OUT and not is_3_9:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    return _OFFSETS.get(error, error)


def classify_group_error(error: ErrorCode, is_3_9: bool) -> ErrorCode:
    """Return the error of JoinGroup and SyncGroup when the group's record was rejected."""
    if error is ErrorCode.REQUEST_TIMED_OUT:
        return ErrorCode.REBALANCE_IN_PROGRESS if is_3_9 else ErrorCode.COORDINATOR_NOT_AVAILABLE
    return _GROUP.get(error, error)
