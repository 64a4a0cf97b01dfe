"""Zigzag variable-length integers, as used inside record batches.

The compact lengths of flexible messages are unsigned varints, in `eosctl.wire.runtime`.
"""

from __future__ import annotations

from typing import Final

from eosctl.wire.errors import WireError

#: A 64-bit number takes at most ten groups of seven bits.
MAX_VARINT_BYTES: Final = 10

#: Signed values of all one-byte varints: the fast path of the record decoder.
ZIGZAG: Final = tuple((n >> 1) ^ -(n & 1) for n in range(128))

_SHORT: Final = tuple(
    bytes((n,)) if n < 128 else bytes((n & 0x7F | 0x80, n >> 7)) for n in range(1024)
)  # By zigzag value: deltas, and lengths of small keys and values.


def encode_varint(value: int) -> bytes:
    """Encode a signed number of 32 or 64 bits as a zigzag varint."""
    rest = value << 1 if value >= 0 else (-value << 1) - 1
    if rest < 1024:
        return _SHORT[rest]
    if rest < 1 << 14:
        return bytes((rest & 0x7F | 0x80, rest >> 7))
    groups = bytearray()
    while rest >= 128:
        groups.append(rest & 0x7F | 0x80)
        rest >>= 7
    groups.append(rest)
    return bytes(groups)


#: Encodings of small lengths: the fast path of the record encoder.
LENGTHS: Final = tuple(encode_varint(n) for n in range(512))


def decode_varint(buffer: bytes, position: int) -> tuple[int, int]:
    """Decode a zigzag varint.

    Returns:
        The signed value and the position after it.

    Raises:
        IndexError: The buffer ends inside the number.
        WireError: The number is longer than 64 bits allow.
    """
    value = shift = 0
    for index in range(position, position + MAX_VARINT_BYTES):
        byte = buffer[index]
        value |= (byte & 0x7F) << shift
        if byte < 128:
            return (value >> 1) ^ -(value & 1), index + 1
        shift += 7
    raise WireError(f"a varint has more than {MAX_VARINT_BYTES} bytes", "varint", position)
