"""What the requests of the authorization tests have in common."""

from __future__ import annotations

from typing import Any, NamedTuple

TOPICS = ("orders", "payments")
GROUP, TRANSACTIONAL_ID = "app", "app-1"
USER = "User:alice"


class Probe(NamedTuple):
    """One request."""

    name: str
    api_key: int
    version: int
    message: Any
