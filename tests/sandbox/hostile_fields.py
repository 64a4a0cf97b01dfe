"""Requests with a hostile value in one field: limits of numbers, odd names, absent and repeated entries."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from eosctl.wire.frames import encode_request
from tests.sandbox.broker.test_turn_lengths import element_of, hints, request_type

INTEGERS: Final = (0, 1, -1, -2, 127, 32_767, -32_768, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))
FLOATS: Final = (float("nan"), float("inf"), -1.0, 0.0, 1e308)
TEXTS: Final = (
    None, "", "\0", "a" * 32_767, "\u00e9" * 200, ".", "..", "../../x", "\n\x1b[2J", "orders", "a" * 250,
    "__transaction_state", "__consumer_offsets", "__cluster_metadata", "__share_group_state",
)  # fmt: skip
BYTES: Final = (None, b"", b"\0" * 16, b"\xff" * 1_000, b"\0\1\0\0")
VALUES: Final = {"bool": (True, False), "int": INTEGERS, "float": FLOATS, "str": TEXTS, "bytes": BYTES}
#: What a field holds while another one is hostile: a topic and a partition that exist.
PLAIN: Final = {"bool": False, "int": 0, "float": 1.0, "str": "orders", "bytes": b"\0\0\0\0"}
REPEATED: Final = 300


def hostile_frames(api_key: int, version: int) -> Iterator[bytes]:
    """Yield frames without their four size bytes; values that a version cannot hold are left out."""
    for request in _variants(_plain(request_type(api_key))):
        try:
            yield encode_request(api_key, version, 1, "hostile", request)[4:]
        except (struct.error, TypeError, AttributeError, OverflowError, ValueError):
            continue


def _kind(of: object) -> str:
    return next((name for name in ("bool", "float", "str", "bytes", "int") if name in str(of)), "int")


def _plain(kind: type[msgspec.Struct]) -> msgspec.Struct:
    given: dict[str, Any] = {}
    for name, of in hints(kind).items():
        element = element_of(of)
        if element is not None:
            given[name] = [_plain(element) if issubclass(element, msgspec.Struct) else PLAIN[_kind(element)]]
        elif isinstance(of, type) and issubclass(of, msgspec.Struct):
            given[name] = _plain(of)
        elif not (_kind(of) == "bytes" and "id" in name):  # A topic id stays that of no topic.
            given[name] = PLAIN[_kind(of)]
    return kind(**given)


def _variants(value: msgspec.Struct) -> Iterator[msgspec.Struct]:
    """Yield a struct with one field changed, also within its entries."""
    for name, of in hints(type(value)).items():
        current, element = getattr(value, name), element_of(of)
        changed: Iterator[Any]
        if element is None:
            is_struct = isinstance(current, msgspec.Struct)
            changed = _variants(current) if is_struct else iter(VALUES[_kind(of)])
        elif issubclass(element, msgspec.Struct):
            changed = (entries for one in _variants(current[0]) for entries in ([one], [current[0], one]))
        else:
            changed = ([one] for one in VALUES[_kind(element)])
        for one in changed:
            yield replace(value, **{name: one})
        if element is not None:
            for entries in ([], None, current * 3, current * REPEATED):
                yield replace(value, **{name: entries})
