"""Authorization of a request's principal. Without an authorizer, everything is allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

from msgspec.structs import replace

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.routes import Handler
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.metadata.image import GROUP_RESOURCE, TOPIC_RESOURCE
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.replies import ClientReply
from eosctl.sandbox.security.acls import CLUSTER_NAME, SUPPORTED, ResourceType, authorized_operations
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import consumer_group_describe, describe_groups, share_group_describe, streams_group_describe

T = TypeVar("T")
G = TypeVar(
    "G",
    describe_groups.DescribedGroup,
    consumer_group_describe.DescribedGroup,
    share_group_describe.DescribedGroup,
    streams_group_describe.DescribedGroup,
)
Amend = Callable[[Any], Any]
"""Completes the response of a handler that received part of the request."""


class Access:
    """A request with its principal, before its handler is called."""

    __slots__ = ("_handle", "broker", "context")

    def __init__(self, broker: BrokerServices, context: RequestContext, handle: Handler) -> None:
        self.broker = broker
        self.context = context
        self._handle = handle

    def may(self, operation: AclOperation, resource_type: ResourceType, name: str) -> bool:
        """Return whether the principal is authorized for an operation on a resource."""
        return may(self.broker, self.context, operation, resource_type, name)

    def may_topic(self, operation: AclOperation, name: str | None) -> bool:
        """Return whether the principal is authorized for a topic; the handler rejects an empty name."""
        return not name or self.may(operation, ResourceType.TOPIC, name)

    def may_group(self, operation: AclOperation, name: str) -> bool:
        """Return whether the principal is authorized for a group."""
        return self.may(operation, ResourceType.GROUP, name)

    def may_transact(self, operation: AclOperation, transactional_id: str) -> bool:
        """Return whether the principal is authorized for a transactional id."""
        return self.may(operation, ResourceType.TRANSACTIONAL_ID, transactional_id)

    def may_cluster(self, operation: AclOperation) -> bool:
        """Return whether the principal is authorized for the cluster."""
        return self.may(operation, ResourceType.CLUSTER, CLUSTER_NAME)

    def part(self, items: Iterable[T], allowed: Callable[[T], bool]) -> tuple[list[T], list[T]]:
        """Split items into authorized and unauthorized ones, in order."""
        yes: list[T] = []
        no: list[T] = []
        for item in items:
            (yes if allowed(item) else no).append(item)
        return yes, no

    def topic_name(self, name: str, topic_id: bytes, first_id_version: int) -> str | None:
        """Return the topic that a request names by name or, from a version on, by id; None for an unknown id."""
        return self.broker.metadata.topic_name(topic_id) if self.context.api_version >= first_id_version else name

    def reply(self, response: Any | None) -> None:
        """Respond without calling the handler."""
        self.context.reply(response)

    def proceed(self, request: Any, amend: Amend | None = None) -> None:
        """Call the handler and complete its response."""
        context = self.context if amend is None else replace(self.context, reply=Amended(self.context, amend))
        self._handle(self.broker, context, request)


class Amended:
    """A reply that completes the response before it is sent."""

    __slots__ = ("_amend", "_context")

    def __init__(self, context: RequestContext, amend: Amend) -> None:
        self._context = context
        self._amend = amend

    def __call__(self, response: Any | None) -> None:
        """Send the completed response; None closes the connection."""
        self._context.reply(None if response is None else self._amend(response))

    def without_answer(self) -> None:
        """End a request without a response; if part of it was rejected, close the connection."""
        self._context.reply(None)

    def throttle(self, throttle_ms: int) -> None:
        """Handle the client's next request only after this time."""
        if isinstance(self._context.reply, ClientReply):
            self._context.reply.throttle(throttle_ms)

    def request_throttle_ms(self) -> int:
        """Count the time that the request took so far, the first time; return the throttle time that it causes."""
        return self._context.reply.request_throttle_ms() if isinstance(self._context.reply, ClientReply) else 0


def may(
    broker: BrokerServices, context: RequestContext, operation: AclOperation, resource_type: ResourceType, name: str
) -> bool:
    """Return whether a request's principal is authorized; brokers themselves may do everything."""
    authorizer = broker.authorizer
    return (
        authorizer is None
        or context.from_broker
        or authorizer.allows(context.principal, context.client_host, operation, resource_type, name)
    )


def operations_of(broker: BrokerServices, context: RequestContext, resource_type: ResourceType, name: str) -> int:
    """Return the authorized operations on a resource as the bit field of KIP-430."""
    allowed = frozenset(
        operation
        for operation in SUPPORTED[resource_type]
        if may(broker, context, AclOperation(operation), resource_type, name)
    )
    return authorized_operations(resource_type, allowed, broker.emulation.release)


def with_group_operations(broker: BrokerServices, context: RequestContext, groups: Sequence[G]) -> list[G]:
    """Return described groups with the authorized operations on them; those with an error stay as they are."""
    return [
        group
        if group.error_code
        else replace(group, authorized_operations=operations_of(broker, context, ResourceType.GROUP, group.group_id))
        for group in groups
    ]


def cluster_operations(broker: BrokerServices, context: RequestContext) -> int:
    """Return the authorized operations on the cluster; none without DESCRIBE."""
    if not may(broker, context, AclOperation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME):
        return 0
    return operations_of(broker, context, ResourceType.CLUSTER, CLUSTER_NAME)


Guard: TypeAlias = "Callable[[Access, Any], None]"
"""Rejects a request, or calls its handler for the authorized part."""


def needs_cluster(operation: AclOperation, refuse: Callable[[Any], Any]) -> Guard:
    """Return a guard that requires an operation on the cluster, or rejects the whole request."""

    def guard(access: Access, request: Any) -> None:
        if access.may_cluster(operation):
            access.proceed(request)
        else:
            access.reply(refuse(request))

    return guard


def needs_group_read(refusal: Any) -> Guard:
    """Return a guard that requires READ on the group, or responds with `refusal`."""

    def guard(access: Access, request: Any) -> None:
        if access.may_group(AclOperation.READ, request.group_id):
            access.proceed(request)
        else:
            access.reply(refusal)

    return guard


def config_denial(access: Access, operation: AclOperation, resource_type: int, name: str) -> ErrorCode | None:
    """Return the error for the settings of a topic, a group, or another resource, which belongs to the cluster."""
    if resource_type == TOPIC_RESOURCE:
        return None if access.may(operation, ResourceType.TOPIC, name) else ErrorCode.TOPIC_AUTHORIZATION_FAILED
    if resource_type == GROUP_RESOURCE:
        return None if access.may(operation, ResourceType.GROUP, name) else ErrorCode.GROUP_AUTHORIZATION_FAILED
    return None if access.may_cluster(operation) else ErrorCode.CLUSTER_AUTHORIZATION_FAILED
