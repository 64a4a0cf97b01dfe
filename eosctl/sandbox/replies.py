"""How a request is answered: by whom it was sent decides what a reply can do.

Not among the compiled modules: mypyc cannot compile protocols that are checked at run time and inherit from each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable


class ClientInformation(NamedTuple):
    """A client's address, the name and version of its software, and whether it logged in with a delegation token."""

    host: str
    port: int
    software: tuple[str, str]
    by_token: bool = False


class Reply(Protocol):
    """Responds to a request; called exactly once (never for a produce request with acks=0)."""

    def __call__(self, response: Any | None, /) -> None:
        """Send the response; None closes the connection."""


@runtime_checkable
class ClientReply(Reply, Protocol):
    """Responds to a client's request."""

    def without_answer(self) -> None:
        """End a request that has no response (acks=0)."""

    def throttle(self, throttle_ms: int) -> None:
        """Handle the client's next request only after this time; called before the response is sent."""

    def request_throttle_ms(self) -> int:
        """Count the time that the request took so far, the first time; return the throttle time that it causes."""


@runtime_checkable
class ConnectionReply(Reply, Protocol):
    """Responds to a request on a connection whose end matters."""

    def on_close(self, key: object, call: Callable[[], None]) -> None:
        """Run `call` when the connection ends; it replaces the one of the same key."""


@runtime_checkable
class IdentifiedReply(ConnectionReply, Protocol):
    """Responds to a client that may have named its software."""

    def identify(self, software_name: str, software_version: str) -> None:
        """Record the software that the client names."""

    def client(self) -> ClientInformation:
        """Return the client."""


@runtime_checkable
class RepeatableReply(Reply, Protocol):
    """Responds to a request that a client may send again, with another correlation id."""

    def keep(self, response: Any, count: int, wait_again: Callable[[], bool], release: Callable[[], None]) -> bool:
        """Serve equal requests, too: `wait_again` starts to, and returns False if the response is another one."""

    def repeat(self) -> None:
        """Send the kept response again."""
