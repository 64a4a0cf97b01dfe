"""The prefix that Kafka's coordinators put before what they store: 16 bits of type or version.

A key starts with its record type (before Kafka 4.1 it was called a key version), a value with its
version. Unknown tags of a value are kept, so that a decoded record can be written again unchanged.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from struct import Struct
from struct import error as struct_error
from typing import Any

from eosctl.wire.codec import Decode, Encode, load_message
from eosctl.wire.errors import WireError
from eosctl.wire.messages.index import RECORDS, Message

_unpack_prefix = Struct(">h").unpack_from
_pack_prefix = Struct(">h").pack


class UnknownRecordError(WireError):
    """Report a record type that this release does not know; Kafka's own loaders skip such records."""


def read_prefix(data: bytes, field: str) -> int:
    """Read the type or version that a key or value starts with.

    Raises:
        WireError: There are fewer than two bytes.
    """
    try:
        return int(_unpack_prefix(data)[0])
    except struct_error:
        raise WireError(f"{len(data)} bytes are too few", field, 0) from None


@cache
def record_kinds(topic: str) -> dict[int, tuple[Message, Message]]:
    """Give key and value of each record type of a topic with coordinator records."""
    kinds: dict[int, list[Message]] = {}
    for name, (number, message) in RECORDS.items():
        if name.startswith(f"{topic}.") and number is not None:
            kinds.setdefault(number, []).append(message)
    return {number: (key, value) for number, (key, value) in kinds.items()}


@cache
def load_version(message: Message, version: int) -> tuple[Decode, Encode]:
    """Load the codec of one version of a record.

    Raises:
        UnknownRecordError: This release does not know the version.
    """
    try:
        return load_message(message, version)
    except KeyError:
        raise UnknownRecordError(f"{message.name} has no version {version} here", "version", 0) from None


def decode_record_key(topic: str, data: bytes) -> Any:
    """Decode the key of a coordinator's record.

    Raises:
        UnknownRecordError: The record type is not known here.
        WireError: The bytes are malformed.
    """
    record_type = read_prefix(data, "record_type")
    try:
        key, _ = record_kinds(topic)[record_type]
    except KeyError:
        raise UnknownRecordError(f"record type {record_type} is not known", "record_type", 0) from None
    return load_version(key, 0)[0](data, 2)[0]


def decode_versioned(message: Message, data: bytes) -> Any:
    """Decode what starts with its version.

    Raises:
        UnknownRecordError: The version is not known here.
        WireError: The bytes are malformed.
    """
    return load_version(message, read_prefix(data, "version"))[0](data, 2)[0]


def encode_versioned(message: Message, value: Any, version: int) -> bytes:
    """Encode a value behind its version.

    Raises:
        UnknownRecordError: The version is not known here.
    """
    return _pack_prefix(version) + load_version(message, version)[1](value)


def encode_record_key(record_type: int, message: Message, key: Any) -> bytes:
    """Encode a key behind its record type."""
    return _pack_prefix(record_type) + load_version(message, 0)[1](key)


def find_record(topic: str, value: object) -> tuple[int, Message]:
    """Find record type and message of a decoded key, value or record.

    Raises:
        TypeError: The value does not belong to the topic.
    """
    number, message = RECORDS.get(f"{topic}.{type(value).__name__}", (None, None))
    if number is None or message is None:
        raise TypeError(f"{type(value).__name__} is no record of {topic}")
    return number, message


def find_record_class(topic: str, name: str) -> Any:
    """Import the class of a record by its name; serves the fronts' lazy attributes.

    Raises:
        AttributeError: The topic has no such record.
    """
    if f"{topic}.{name}" not in RECORDS:
        raise AttributeError(name)
    module = RECORDS[f"{topic}.{name}"][1].module.rpartition(".")[0]
    return getattr(import_module(f"eosctl.wire.messages.{module}"), name)
