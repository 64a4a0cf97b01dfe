"""The 16-bit type or version at the start of every coordinator record.

A key starts with its record type (called the key version before Kafka 4.1), a value with its version. Unknown tagged
fields of a value are kept, so that a decoded record can be written again unchanged.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from struct import Struct
from typing import Final

import msgspec

from eosctl.wire.codec import Decode, Encode, load_message
from eosctl.wire.errors import WireError
from eosctl.wire.generated.index import RECORDS
from eosctl.wire.message import Message

_pack_prefix = Struct(">h").pack


class UnknownRecordError(WireError):
    """A record type or version is unknown to this release. Kafka's own loaders skip such records."""


class VersionDecoders(dict[bytes, Decode[msgspec.Struct]]):
    """The decoders of a message, by the two bytes of its version. Each is loaded on first use."""

    def __init__(self, message: Message) -> None:
        super().__init__()
        self._message = message

    def __missing__(self, prefix: bytes) -> Decode[msgspec.Struct]:
        decode = self[prefix] = load_version(self._message, read_prefix(prefix, "version"))[0]
        return decode

    def decode(self, data: bytes) -> msgspec.Struct:
        """Decode a value that starts with its version.

        Raises:
            UnknownRecordError: The version is unknown.
            WireError: The bytes are malformed.
        """
        return self[data[:2]](data, 2)[0]


class KeyDecoders(dict[bytes, Decode[msgspec.Struct]]):
    """The decoders of a topic's keys, by the two bytes of the record type."""

    def __init__(self, topic: str) -> None:
        super().__init__()
        self._topic = topic

    def __missing__(self, prefix: bytes) -> Decode[msgspec.Struct]:
        record_type = read_prefix(prefix, "record_type")
        if record_type not in record_kinds(self._topic):
            raise UnknownRecordError(f"record type {record_type} is not known", "record_type", 0)
        decode = self[prefix] = load_version(record_kinds(self._topic)[record_type][0], 0)[0]
        return decode

    def decode(self, data: bytes) -> msgspec.Struct:
        """Decode a key.

        Raises:
            UnknownRecordError: The record type is unknown.
            WireError: The bytes are malformed.
        """
        return self[data[:2]](data, 2)[0]


def read_prefix(data: bytes, field: str) -> int:
    """Read the type or version at the start of a key or value.

    Raises:
        WireError: The buffer has fewer than two bytes.
    """
    if len(data) < 2:
        raise WireError(f"{len(data)} bytes are too few", field, 0)
    return int.from_bytes(data[:2], "big", signed=True)


@cache
def record_kinds(topic: str) -> dict[int, tuple[Message, Message]]:
    """Return the key and the value message of each record type of a topic with coordinator records."""
    kinds: dict[int, list[Message]] = {}
    for name, (number, message) in RECORDS.items():
        if name.startswith(f"{topic}.") and number is not None:
            kinds.setdefault(number, []).append(message)
    return {number: (key, value) for number, (key, value) in kinds.items()}


@cache
def value_decoders(topic: str, record_type: int) -> VersionDecoders:
    """Return the decoders of the values of one record type."""
    return VersionDecoders(record_kinds(topic)[record_type][1])


@cache
def load_version(message: Message, version: int) -> tuple[Decode[msgspec.Struct], Encode[msgspec.Struct]]:
    """Load the codec of one version of a record.

    Raises:
        UnknownRecordError: The version is unknown to this release.
    """
    try:
        return load_message(message, version)
    except KeyError:
        raise UnknownRecordError(f"{message.name} has no version {version} here", "version", 0) from None


def encode_versioned(message: Message, value: msgspec.Struct, version: int) -> bytes:
    """Encode a value with its version.

    Raises:
        UnknownRecordError: The version is unknown.
    """
    return _pack_prefix(version) + load_version(message, version)[1](value)


def encode_record_key(record_type: int, message: Message, key: msgspec.Struct) -> bytes:
    """Encode a key with its record type."""
    return _pack_prefix(record_type) + load_version(message, 0)[1](key)


def find_record(topic: str, value: object) -> tuple[int, Message]:
    """Return the record type and the message of a decoded key, value, or record.

    Raises:
        TypeError: The value does not belong to the topic.
    """
    return _find_record(topic, type(value).__name__)


@cache
def _find_record(topic: str, name: str) -> tuple[int, Message]:
    number, message = RECORDS.get(f"{topic}.{name}", (None, None))
    if number is None or message is None:
        raise TypeError(f"{name} is not a record of {topic}")
    return number, message


def find_record_class(topic: str, name: str) -> type[msgspec.Struct]:
    """Import the class of a record by its name. The record modules use it for lazy attributes.

    Raises:
        AttributeError: The topic does not have this record.
    """
    if f"{topic}.{name}" not in RECORDS:
        raise AttributeError(name)
    module = RECORDS[f"{topic}.{name}"][1].module
    found: type[msgspec.Struct] = getattr(import_module(f"eosctl.wire.messages.{module}"), name)
    return found


class RecordTopic:
    """The records of an internal topic whose keys start with the record type, and whose values with their version."""

    def __init__(self, topic: str) -> None:
        """Take the name of the topic in the message tables, such as `consumer_offsets`."""
        self._topic = topic
        self._keys = KeyDecoders(topic)

    def decode_key(self, data: bytes) -> msgspec.Struct:
        """Decode a key into the class of its record type.

        Raises:
            UnknownRecordError: The record type is unknown.
            WireError: The bytes are malformed.
        """
        return self._keys.decode(data)

    def decode_value(self, key: object, data: bytes) -> msgspec.Struct:
        """Decode a value of any version into the class that belongs to its key.

        Args:
            key: The decoded key.
            data: The value's bytes. Do not pass tombstones.

        Raises:
            UnknownRecordError: The version is unknown.
            WireError: The bytes are malformed.
            TypeError: The key does not belong to this topic.
        """
        return value_decoders(self._topic, find_record(self._topic, key)[0]).decode(data)

    def encode_key(self, key: msgspec.Struct) -> bytes:
        """Encode a key with its record type.

        Raises:
            TypeError: The key does not belong to this topic.
        """
        return encode_record_key(*find_record(self._topic, key), key)

    def encode_value(self, value: msgspec.Struct, version: int) -> bytes:
        """Encode a value with its version.

        Raises:
            UnknownRecordError: The version is unknown.
            TypeError: The value does not belong to this topic.
        """
        return encode_versioned(find_record(self._topic, value)[1], value, version)


share_group_state: Final = RecordTopic("share_group_state")
"""Records of `__share_group_state`: acknowledgements of share groups (KIP-932)."""
