"""Kafka's uuids: 16 bytes on the wire, 22 url-safe characters in print."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

ZERO_UUID: Final = bytes(16)


def render_uuid(value: bytes) -> str:
    """Write 16 bytes as Kafka prints a uuid (`org.apache.kafka.common.Uuid`)."""
    return urlsafe_b64encode(value).decode("ascii").rstrip("=")


def parse_uuid(text: str) -> bytes:
    """Read a uuid as Kafka prints it.

    Raises:
        ValueError: The text is no uuid.
    """
    value = urlsafe_b64decode(text + "==")
    if len(value) != 16 or render_uuid(value) != text:
        raise ValueError(f"{text!r} is no Kafka uuid")
    return value
