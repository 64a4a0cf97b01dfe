"""Subscriptions and assignments of classic consumer groups, which Kafka stores as opaque bytes.

Both start with a 16-bit version. A version above the highest known is read as the highest known, as Kafka does: later
versions only add fields at the end (`ConsumerProtocol`).
"""

from __future__ import annotations

from typing import Final, cast

from eosctl.wire.generated.index import RECORDS
from eosctl.wire.internal.versioned import encode_versioned, load_version, read_prefix
from eosctl.wire.message import Message
from eosctl.wire.messages.internal.consumer_protocol.consumer_protocol_assignment import ConsumerProtocolAssignment
from eosctl.wire.messages.internal.consumer_protocol.consumer_protocol_subscription import ConsumerProtocolSubscription

__all__ = [
    "ConsumerProtocolAssignment",
    "ConsumerProtocolSubscription",
    "decode_assignment",
    "decode_subscription",
    "encode_assignment",
    "encode_subscription",
]

_SUBSCRIPTION: Final = RECORDS["consumer_protocol.ConsumerProtocolSubscription"][1]
_ASSIGNMENT: Final = RECORDS["consumer_protocol.ConsumerProtocolAssignment"][1]


def decode_subscription(data: bytes) -> ConsumerProtocolSubscription:
    """Decode a member's subscription.

    Raises:
        WireError: The bytes are malformed.
    """
    return cast(ConsumerProtocolSubscription, _decode(_SUBSCRIPTION, data))


def decode_assignment(data: bytes) -> ConsumerProtocolAssignment:
    """Decode a member's assignment.

    Raises:
        WireError: The bytes are malformed.
    """
    return cast(ConsumerProtocolAssignment, _decode(_ASSIGNMENT, data))


def encode_subscription(subscription: ConsumerProtocolSubscription, version: int = 3) -> bytes:
    """Encode a member's subscription."""
    return encode_versioned(_SUBSCRIPTION, subscription, version)


def encode_assignment(assignment: ConsumerProtocolAssignment, version: int = 3) -> bytes:
    """Encode a member's assignment."""
    return encode_versioned(_ASSIGNMENT, assignment, version)


def _decode(message: Message, data: bytes) -> object:
    version = min(read_prefix(data, "version"), message.last)
    decoded: object = load_version(message, version)[0](data, 2)[0]
    return decoded
