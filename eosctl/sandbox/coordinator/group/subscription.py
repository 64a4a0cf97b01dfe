"""Read the topics of a consumer's subscription bytes (`ConsumerProtocolSubscription` of Kafka's clients)."""

from __future__ import annotations

import struct

CONSUMER_PROTOCOL_TYPE = "consumer"


def decode_subscribed_topics(subscription: bytes) -> frozenset[str] | None:
    """Return the subscribed topics; None if the bytes are not a subscription.

    The layout is version (int16), then an array (int32 count) of strings (int16 length). The rest differs by version
    and is not needed. Like Kafka, the caller assumes that every topic is subscribed for malformed bytes.
    """
    try:
        version, count = struct.unpack_from(">hi", subscription)
        if version < 0 or count < 0:
            return None
        topics, position = set(), 6
        for _ in range(count):
            (length,) = struct.unpack_from(">h", subscription, position)
            position += 2 + length
            if length < 0 or position > len(subscription):
                return None
            topics.add(subscription[position - length : position].decode())
    except (struct.error, UnicodeDecodeError):
        return None
    return frozenset(topics)
