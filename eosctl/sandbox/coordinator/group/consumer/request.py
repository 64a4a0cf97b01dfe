"""The heartbeat request of KIP-848, and its validation independent of a group."""

from __future__ import annotations

from typing import NamedTuple

from eosctl.sandbox.coordinator.group.consumer.group import JOIN_EPOCH, LEAVE_EPOCH, STATIC_LEAVE_EPOCH, Assignment
from eosctl.sandbox.re2.nodes import InvalidPattern
from eosctl.sandbox.re2.pattern import Pattern, compile_re2
from eosctl.wire.error_codes import ErrorCode

#: First version with a client-generated member id and subscription patterns.
CLIENT_MEMBER_ID_VERSION = 1


class RefusedError(Exception):
    """A request is rejected with an error; `message` is Kafka's."""

    def __init__(self, error: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.error = error
        self.message = message


class ConsumerHeartbeat(NamedTuple):
    """A heartbeat; None means unchanged since the last one."""

    group_id: str
    member_id: str
    member_epoch: int
    instance_id: str | None
    rack_id: str | None
    rebalance_timeout_ms: int
    client_id: str
    client_host: str
    subscribed_topic_names: frozenset[str] | None
    subscribed_topic_regex: str | None
    server_assignor: str | None
    owned: Assignment | None
    api_version: int = CLIENT_MEMBER_ID_VERSION

    @property
    def is_full(self) -> bool:
        """Return whether the request repeats the member's full state and so expects the full assignment."""
        subscribes = self.subscribed_topic_names is not None or self.subscribed_topic_regex is not None
        return self.rebalance_timeout_ms != -1 and subscribes and self.owned is not None

    @property
    def leaves(self) -> bool:
        """Return whether the member leaves."""
        return self.member_epoch in (LEAVE_EPOCH, STATIC_LEAVE_EPOCH)


def check_request(request: ConsumerHeartbeat, assignors: tuple[str, ...]) -> None:
    """Check the parts of a request that do not depend on a group.

    Raises:
        RefusedError: INVALID_REQUEST or UNSUPPORTED_ASSIGNOR with Kafka's message.
    """
    client_names_itself = request.api_version >= CLIENT_MEMBER_ID_VERSION or request.member_epoch != JOIN_EPOCH
    _require(not (client_names_itself and not request.member_id), "MemberId can't be empty.")
    _require(request.group_id != "", "GroupId can't be empty.")
    _require(request.instance_id != "", "InstanceId can't be empty.")
    _require(request.rack_id != "", "RackId can't be empty.")
    if request.member_epoch == JOIN_EPOCH:
        _require(request.rebalance_timeout_ms != -1, "RebalanceTimeoutMs must be provided in first request.")
        _require(request.owned == frozenset(), "TopicPartitions must be empty when (re-)joining.")
        _require(
            request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None,
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
        )
    elif request.member_epoch == STATIC_LEAVE_EPOCH:
        _require(request.instance_id is not None, "InstanceId can't be null.")
    else:
        _require(request.member_epoch >= LEAVE_EPOCH, "MemberEpoch is invalid.")
    if request.server_assignor is not None and request.server_assignor not in assignors:
        known = ", ".join(assignors)
        message = f"ServerAssignor {request.server_assignor} is not supported. Supported assignors: {known}."
        raise RefusedError(ErrorCode.UNSUPPORTED_ASSIGNOR, message)


def compile_pattern(pattern: str) -> Pattern:
    """Compile a subscription pattern.

    Raises:
        RefusedError: INVALID_REGULAR_EXPRESSION.
    """
    try:
        return compile_re2(pattern)
    except InvalidPattern as error:
        message = f"SubscribedTopicRegex `{pattern}` is not a valid regular expression: {error}."
        raise RefusedError(ErrorCode.INVALID_REGULAR_EXPRESSION, message) from None


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise RefusedError(ErrorCode.INVALID_REQUEST, message)
