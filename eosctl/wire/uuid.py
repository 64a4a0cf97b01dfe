"""Kafka's UUIDs: 16 bytes on the wire, 22 URL-safe characters in text."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

ZERO_UUID: Final = bytes(16)


def render_uuid(value: bytes) -> str:
    """Return the text form of a UUID, as Kafka prints it (`org.apache.kafka.common.Uuid`)."""
    return urlsafe_b64encode(value).decode("ascii").rstrip("=")


def parse_uuid(text: str) -> bytes:
    """Parse a UUID in Kafka's text form.

    Raises:
        ValueError: The text is not a UUID.
    """
    value = urlsafe_b64decode(text + "==")
    if len(value) != 16 or render_uuid(value) != text:
        raise ValueError(f"{text!r} is not a Kafka uuid")
    return value
