"""A module that kafka-python's source archive omits: the address of an external broker for its tests."""

from __future__ import annotations


class ExternalService:
    """A broker at an address."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port

    def open(self) -> None:
        """Do nothing: the broker is running."""

    def close(self) -> None:
        """Do nothing: the broker keeps running."""


class SpawnedService:
    """A broker started by a test; unused when tests receive an address."""
