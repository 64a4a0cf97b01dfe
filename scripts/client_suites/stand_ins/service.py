"""What kafka-python's source archive leaves out: how its tests refer to a broker that somebody else started."""

from __future__ import annotations


class ExternalService:
    """A broker at an address."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port

    def open(self) -> None:
        """Do nothing: it runs."""

    def close(self) -> None:
        """Do nothing: it goes on."""


class SpawnedService:
    """A broker that a test would start; none does when it is given an address."""
