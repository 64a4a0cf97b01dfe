"""Records of `__consumer_offsets`: committed offsets and the state of all types of groups.

The first 16 bits of a key select the record type. Types 0 and 1 are both committed offsets: 0 before Kafka 0.9, 1
since. A null value is a tombstone. Offsets committed in a transaction take effect with its commit marker in the same
partition.
"""

from __future__ import annotations

from typing import Final

import msgspec

from eosctl.wire.internal.versioned import RecordTopic

_OLD_OFFSET_COMMIT: Final = b"\0\0"
_OFFSET_COMMIT: Final = b"\0\1"
_TOPIC: Final = RecordTopic("consumer_offsets")

decode_value: Final = _TOPIC.decode_value
encode_key: Final = _TOPIC.encode_key
encode_value: Final = _TOPIC.encode_value


def decode_key(data: bytes) -> msgspec.Struct:
    """Decode a key into the class of its record type, such as `OffsetCommitKey` or `GroupMetadataKey`.

    Raises:
        UnknownRecordError: The record type is unknown.
        WireError: The bytes are malformed.
    """
    if data[:2] == _OLD_OFFSET_COMMIT:
        data = _OFFSET_COMMIT + data[2:]
    return _TOPIC.decode_key(data)
