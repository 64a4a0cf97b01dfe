"""Records of `__consumer_offsets`: committed offsets and the state of all types of groups.

The first 16 bits of a key select the record type. Types 0 and 1 are both committed offsets: 0 before Kafka 0.9, 1
since. A null value is a tombstone. Offsets committed in a transaction take effect with its commit marker in the same
partition.

Classes are imported on first use: a broker needs four of them, a decoder all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from eosctl.wire.internal.versioned import (
    KeyDecoders,
    encode_record_key,
    encode_versioned,
    find_record,
    find_record_class,
    value_decoders,
)

if TYPE_CHECKING:
    from eosctl.wire.messages.internal.consumer_offsets.consumer_group_current_member_assignment import (
        ConsumerGroupCurrentMemberAssignmentKey as ConsumerGroupCurrentMemberAssignmentKey,
    )
    from eosctl.wire.messages.internal.consumer_offsets.consumer_group_current_member_assignment import (
        ConsumerGroupCurrentMemberAssignmentValue as ConsumerGroupCurrentMemberAssignmentValue,
    )
    from eosctl.wire.messages.internal.consumer_offsets.consumer_group_member_metadata import (
        ConsumerGroupMemberMetadataKey as ConsumerGroupMemberMetadataKey,
    )
    from eosctl.wire.messages.internal.consumer_offsets.consumer_group_member_metadata import (
        ConsumerGroupMemberMetadataValue as ConsumerGroupMemberMetadataValue,
    )
    from eosctl.wire.messages.internal.consumer_offsets.consumer_group_metadata import (
        ConsumerGroupMetadataKey as ConsumerGroupMetadataKey,
    )
    from eosctl.wire.messages.internal.consumer_offsets.consumer_group_metadata import (
        ConsumerGroupMetadataValue as ConsumerGroupMetadataValue,
    )
    from eosctl.wire.messages.internal.consumer_offsets.consumer_group_partition_metadata import (
        ConsumerGroupPartitionMetadataKey as ConsumerGroupPartitionMetadataKey,
    )
    from eosctl.wire.messages.internal.consumer_offsets.consumer_group_partition_metadata import (
        ConsumerGroupPartitionMetadataValue as ConsumerGroupPartitionMetadataValue,
    )
    from eosctl.wire.messages.internal.consumer_offsets.consumer_group_regular_expression import (
        ConsumerGroupRegularExpressionKey as ConsumerGroupRegularExpressionKey,
    )
    from eosctl.wire.messages.internal.consumer_offsets.consumer_group_regular_expression import (
        ConsumerGroupRegularExpressionValue as ConsumerGroupRegularExpressionValue,
    )
    from eosctl.wire.messages.internal.consumer_offsets.consumer_group_target_assignment_member import (
        ConsumerGroupTargetAssignmentMemberKey as ConsumerGroupTargetAssignmentMemberKey,
    )
    from eosctl.wire.messages.internal.consumer_offsets.consumer_group_target_assignment_member import (
        ConsumerGroupTargetAssignmentMemberValue as ConsumerGroupTargetAssignmentMemberValue,
    )
    from eosctl.wire.messages.internal.consumer_offsets.consumer_group_target_assignment_metadata import (
        ConsumerGroupTargetAssignmentMetadataKey as ConsumerGroupTargetAssignmentMetadataKey,
    )
    from eosctl.wire.messages.internal.consumer_offsets.consumer_group_target_assignment_metadata import (
        ConsumerGroupTargetAssignmentMetadataValue as ConsumerGroupTargetAssignmentMetadataValue,
    )
    from eosctl.wire.messages.internal.consumer_offsets.group_metadata import GroupMetadataKey as GroupMetadataKey
    from eosctl.wire.messages.internal.consumer_offsets.group_metadata import GroupMetadataValue as GroupMetadataValue
    from eosctl.wire.messages.internal.consumer_offsets.offset_commit import OffsetCommitKey as OffsetCommitKey
    from eosctl.wire.messages.internal.consumer_offsets.offset_commit import OffsetCommitValue as OffsetCommitValue
    from eosctl.wire.messages.internal.consumer_offsets.share_group_current_member_assignment import (
        ShareGroupCurrentMemberAssignmentKey as ShareGroupCurrentMemberAssignmentKey,
    )
    from eosctl.wire.messages.internal.consumer_offsets.share_group_current_member_assignment import (
        ShareGroupCurrentMemberAssignmentValue as ShareGroupCurrentMemberAssignmentValue,
    )
    from eosctl.wire.messages.internal.consumer_offsets.share_group_member_metadata import (
        ShareGroupMemberMetadataKey as ShareGroupMemberMetadataKey,
    )
    from eosctl.wire.messages.internal.consumer_offsets.share_group_member_metadata import (
        ShareGroupMemberMetadataValue as ShareGroupMemberMetadataValue,
    )
    from eosctl.wire.messages.internal.consumer_offsets.share_group_metadata import (
        ShareGroupMetadataKey as ShareGroupMetadataKey,
    )
    from eosctl.wire.messages.internal.consumer_offsets.share_group_metadata import (
        ShareGroupMetadataValue as ShareGroupMetadataValue,
    )
    from eosctl.wire.messages.internal.consumer_offsets.share_group_state_partition_metadata import (
        ShareGroupStatePartitionMetadataKey as ShareGroupStatePartitionMetadataKey,
    )
    from eosctl.wire.messages.internal.consumer_offsets.share_group_state_partition_metadata import (
        ShareGroupStatePartitionMetadataValue as ShareGroupStatePartitionMetadataValue,
    )
    from eosctl.wire.messages.internal.consumer_offsets.share_group_target_assignment_member import (
        ShareGroupTargetAssignmentMemberKey as ShareGroupTargetAssignmentMemberKey,
    )
    from eosctl.wire.messages.internal.consumer_offsets.share_group_target_assignment_member import (
        ShareGroupTargetAssignmentMemberValue as ShareGroupTargetAssignmentMemberValue,
    )
    from eosctl.wire.messages.internal.consumer_offsets.share_group_target_assignment_metadata import (
        ShareGroupTargetAssignmentMetadataKey as ShareGroupTargetAssignmentMetadataKey,
    )
    from eosctl.wire.messages.internal.consumer_offsets.share_group_target_assignment_metadata import (
        ShareGroupTargetAssignmentMetadataValue as ShareGroupTargetAssignmentMetadataValue,
    )
    from eosctl.wire.messages.internal.consumer_offsets.streams_group_current_member_assignment import (
        StreamsGroupCurrentMemberAssignmentKey as StreamsGroupCurrentMemberAssignmentKey,
    )
    from eosctl.wire.messages.internal.consumer_offsets.streams_group_current_member_assignment import (
        StreamsGroupCurrentMemberAssignmentValue as StreamsGroupCurrentMemberAssignmentValue,
    )
    from eosctl.wire.messages.internal.consumer_offsets.streams_group_member_metadata import KeyValue as KeyValue
    from eosctl.wire.messages.internal.consumer_offsets.streams_group_member_metadata import (
        StreamsGroupMemberMetadataKey as StreamsGroupMemberMetadataKey,
    )
    from eosctl.wire.messages.internal.consumer_offsets.streams_group_member_metadata import (
        StreamsGroupMemberMetadataValue as StreamsGroupMemberMetadataValue,
    )
    from eosctl.wire.messages.internal.consumer_offsets.streams_group_metadata import (
        StreamsGroupMetadataKey as StreamsGroupMetadataKey,
    )
    from eosctl.wire.messages.internal.consumer_offsets.streams_group_metadata import (
        StreamsGroupMetadataValue as StreamsGroupMetadataValue,
    )
    from eosctl.wire.messages.internal.consumer_offsets.streams_group_target_assignment_member import (
        StreamsGroupTargetAssignmentMemberKey as StreamsGroupTargetAssignmentMemberKey,
    )
    from eosctl.wire.messages.internal.consumer_offsets.streams_group_target_assignment_member import (
        StreamsGroupTargetAssignmentMemberValue as StreamsGroupTargetAssignmentMemberValue,
    )
    from eosctl.wire.messages.internal.consumer_offsets.streams_group_target_assignment_metadata import (
        StreamsGroupTargetAssignmentMetadataKey as StreamsGroupTargetAssignmentMetadataKey,
    )
    from eosctl.wire.messages.internal.consumer_offsets.streams_group_target_assignment_metadata import (
        StreamsGroupTargetAssignmentMetadataValue as StreamsGroupTargetAssignmentMetadataValue,
    )
    from eosctl.wire.messages.internal.consumer_offsets.streams_group_topology import (
        StreamsGroupTopologyKey as StreamsGroupTopologyKey,
    )
    from eosctl.wire.messages.internal.consumer_offsets.streams_group_topology import (
        StreamsGroupTopologyValue as StreamsGroupTopologyValue,
    )

_TOPIC: Final = "consumer_offsets"
_OLD_OFFSET_COMMIT: Final = b"\0\0"
_OFFSET_COMMIT: Final = b"\0\1"
_KEYS: Final = KeyDecoders(_TOPIC)


def decode_key(data: bytes) -> object:
    """Decode a key into the class of its record type, such as `OffsetCommitKey` or `GroupMetadataKey`.

    Raises:
        UnknownRecordError: The record type is unknown.
        WireError: The bytes are malformed.
    """
    if data[:2] == _OLD_OFFSET_COMMIT:
        data = _OFFSET_COMMIT + data[2:]
    key: object = _KEYS.decode(data)
    return key


def decode_value(key: object, data: bytes) -> object:
    """Decode a value of any version into the class that belongs to its key.

    Args:
        key: The decoded key.
        data: The value's bytes. Do not pass tombstones.

    Raises:
        UnknownRecordError: The version is unknown.
        WireError: The bytes are malformed.
        TypeError: The key does not belong to this topic.
    """
    record_type, _ = find_record(_TOPIC, key)
    value: object = value_decoders(_TOPIC, record_type).decode(data)
    return value


def encode_key(key: msgspec.Struct) -> bytes:
    """Encode a key with its record type.

    Raises:
        TypeError: The key does not belong to this topic.
    """
    return encode_record_key(*find_record(_TOPIC, key), key)


def encode_value(value: msgspec.Struct, version: int) -> bytes:
    """Encode a value with its version.

    Raises:
        UnknownRecordError: The version is unknown.
        TypeError: The value does not belong to this topic.
    """
    return encode_versioned(find_record(_TOPIC, value)[1], value, version)


def __getattr__(name: str) -> Any:
    return find_record_class(_TOPIC, name)
