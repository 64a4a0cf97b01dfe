"""What the records of the internal topics mean, as JSON values with Kafka's field names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from eosctl.wire.errors import WireError
from eosctl.wire.internal import offsets, transaction_log
from eosctl.wire.internal.consumer_protocol import decode_assignment, decode_subscription
from eosctl.wire.internal.json_form import json_converter
from eosctl.wire.internal.transaction_log import TRANSACTION_STATES
from eosctl.wire.internal.versioned import read_prefix, share_group_state

#: Topics with coordinator records, and the module name of their classes.
TOPICS: Final = {
    "__transaction_state": "transaction_state",
    "__consumer_offsets": "consumer_offsets",
    "__share_group_state": "share_group_state",
}
_DECODERS: Final[dict[str, tuple[Callable[[bytes], Any], Callable[[Any, bytes], Any]]]] = {
    "transaction_state": (transaction_log.decode_key, lambda key, data: transaction_log.decode_value(data)),
    "consumer_offsets": (offsets.decode_key, offsets.decode_value),
    "share_group_state": (share_group_state.decode_key, share_group_state.decode_value),
}


def read_key(topic: str, data: bytes) -> tuple[int, Any, dict[str, Any]]:
    """Decode a key: record type, the key itself, and its JSON form.

    Args:
        topic: One of the values of `TOPICS`.
        data: The key's bytes.

    Raises:
        WireError: The bytes are malformed or of an unknown type.
    """
    key = _DECODERS[topic][0](data)
    return read_prefix(data, "record_type"), key, json_converter(topic, type(key).__name__, 0)(key)


def read_value(topic: str, key: Any, data: bytes) -> tuple[int, Any, dict[str, Any]]:
    """Decode a value: version, the value itself, and its JSON form.

    Raises:
        WireError: The bytes are malformed or of an unknown version.
    """
    value = _DECODERS[topic][1](key, data)
    version = read_prefix(data, "version")
    return version, value, json_converter(topic, type(value).__name__, version)(value)


def state_name(status: int) -> str:
    """Name a transaction's state; a number that no release uses stays one."""
    return str(TRANSACTION_STATES[status]) if 0 <= status < len(TRANSACTION_STATES) else str(status)


def with_consumer_protocol(value: Any, form: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the members of a classic group with subscription and assignment decoded, where they can be."""
    members: list[dict[str, Any]] = []
    for member, shown in zip(value.members, form["members"], strict=True):
        if value.protocol_type != "consumer":
            members.append(shown)
            continue
        decoded = dict(shown)
        for field, decode, name in (
            ("subscription", decode_subscription, "ConsumerProtocolSubscription"),
            ("assignment", decode_assignment, "ConsumerProtocolAssignment"),
        ):
            data = getattr(member, field)
            if data:
                try:
                    version = min(read_prefix(data, "version"), 3)
                    decoded[field] = json_converter("consumer_protocol", name, version)(decode(data))
                except (WireError, KeyError):
                    continue
        members.append(decoded)
    return members
