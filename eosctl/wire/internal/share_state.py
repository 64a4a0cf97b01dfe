"""Records of `__share_group_state`: acknowledgements of share groups (KIP-932)."""

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
    from eosctl.wire.messages.internal.share_group_state.share_snapshot import ShareSnapshotKey as ShareSnapshotKey
    from eosctl.wire.messages.internal.share_group_state.share_snapshot import ShareSnapshotValue as ShareSnapshotValue
    from eosctl.wire.messages.internal.share_group_state.share_update import ShareUpdateKey as ShareUpdateKey
    from eosctl.wire.messages.internal.share_group_state.share_update import ShareUpdateValue as ShareUpdateValue

_TOPIC: Final = "share_group_state"
_KEYS: Final = KeyDecoders(_TOPIC)


def decode_key(data: bytes) -> object:
    """Decode a key into the class of its record type, such as `ShareSnapshotKey`.

    Raises:
        UnknownRecordError: The record type is unknown.
        WireError: The bytes are malformed.
    """
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
