"""Name the protocol of a client by the bytes that a listener of Kafka read as the size of a request.

A listener reads the first four bytes of a request as its size, as a signed integer in network byte order. Other
protocols begin with text, or with the header of a TLS record (RFC 8446, section 5.1).
"""

from __future__ import annotations

from typing import Final

_HANDSHAKE: Final = 0x16
"""The content type of the TLS records of a handshake."""
_VERSION: Final = 0x03
"""The major version of each TLS record."""
_METHODS: Final = frozenset({"GET ", "HEAD", "POST", "PUT ", "DELE", "OPTI", "PATC", "CONN", "TRAC", "PRI "})
"""The first four characters of a request of HTTP; the last one is the preface of HTTP/2."""
_TEXT: Final = range(0x20, 0x7F)


def speaker_of(received_bytes: int) -> str:
    """Return what a client speaks, in words, by the size that its first bytes are as an integer; empty if unknown.

    >>> speaker_of(int.from_bytes(b"GET "))
    "HTTP ('GET ')"
    """
    if not 0 <= received_bytes < 1 << 32:
        return ""
    first = received_bytes.to_bytes(4)
    if first[0] == _HANDSHAKE and first[1] == _VERSION:
        return "TLS (a handshake)"
    if any(one not in _TEXT for one in first):
        return ""
    text = first.decode("ascii")
    return f"HTTP ('{text}')" if text in _METHODS else f"another protocol ('{text}')"
