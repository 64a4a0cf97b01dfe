"""Encoding of a long response in slices of one of its repeated fields, so that a server can do other work in between.

The bytes before and after the entries do not depend on them, except for their count.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import msgspec
from msgspec.structs import replace

from eosctl.wire.codec import Codec
from eosctl.wire.runtime import unsigned_varint

COUNT_BYTES = 4  # Of the count before the entries in a version without compact arrays.


def encode_in_slices(
    form: Codec, message: msgspec.Struct, field: str, slice_count: int
) -> Generator[msgspec.Struct, None, bytes]:
    """Encode a response, and return the bytes that `form.encode_response` returns.

    Args:
        form: The codec of the response.
        message: The response.
        field: The name of a repeated field of structs with at least one entry.
        slice_count: The entries that are encoded in one step, at least one.

    Yields:
        After each step, the response with the entries that this step has encoded.

    Raises:
        struct.error: A field does not fit.
    """
    entries = getattr(message, field)

    def encode(part: Any) -> bytes:
        return form.encode_response(replace(message, **{field: part}))

    empty, one = encode([]), encode(entries[:1])
    # The first byte that differs is the last one of the count, which takes one byte in a compact array.
    count_end = next(at for at, (left, right) in enumerate(zip(empty, one, strict=False)) if left != right) + 1
    count_start = count_end - (1 if form.flexible else COUNT_BYTES)
    tail = empty[count_end:]
    parts = [empty[:count_start], _count(form, len(entries))]
    for start in range(0, len(entries), slice_count):
        part = entries[start : start + slice_count]
        encoded = encode(part)
        parts.append(encoded[count_start + len(_count(form, len(part))) : len(encoded) - len(tail)])
        yield replace(message, **{field: part})
    return b"".join([*parts, tail])


def _count(form: Codec, count: int) -> bytes:
    return unsigned_varint(count + 1) if form.flexible else count.to_bytes(COUNT_BYTES, "big")
