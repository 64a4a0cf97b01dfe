"""Decode assignments of the consumer protocol in DescribeGroups (`ConsumerProtocolAssignment` of kafka-clients)."""

from __future__ import annotations

import struct

from eosctl.model.transaction import TopicPartition


def decode_assignment(data: bytes) -> tuple[TopicPartition, ...]:
    """Return the assigned partitions; empty for other protocols (Connect, Schema Registry) and unreadable bytes.

    Layout: version int16, topics [name string, partitions [int32]], user data.

    >>> decode_assignment(bytes.fromhex("0000 00000001 0001 74 00000002 00000000 00000003"))
    (TopicPartition(topic='t', partition=0), TopicPartition(topic='t', partition=3))
    >>> decode_assignment(b"")
    ()
    """
    found: list[TopicPartition] = []
    try:
        version, topic_count = struct.unpack_from(">hi", data)
        if version < 0 or topic_count > len(data):
            return ()
        position = 6
        for _ in range(topic_count):
            (length,) = struct.unpack_from(">h", data, position)
            position += 2
            name = data[position : position + length].decode()
            position += length
            (count,) = struct.unpack_from(">i", data, position)
            position += 4
            if count < 0 or count * 4 > len(data) - position:
                return ()
            found += [TopicPartition(name, index) for index in struct.unpack_from(f">{count}i", data, position)]
            position += 4 * count
    except (struct.error, UnicodeDecodeError):
        return ()
    return tuple(sorted(found))
