"""Read the topics out of a consumer's subscription bytes (`ConsumerProtocolSubscription` of Kafka's clients)."""

from __future__ import annotations

import struct

CONSUMER_PROTOCOL_TYPE = "consumer"


def decode_subscribed_topics(subscription: bytes) -> frozenset[str] | None:
    """Return the subscribed topics, or None when the bytes are not a subscription.

    The layout is version i16, an array (i32 count) of strings (i16 length); all that follows differs by version and is
    not needed here. Kafka tolerates malformed bytes the same way: it then assumes every topic to be subscribed.
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
