"""The base type of requests, which names the type of the response."""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import Struct

Answer = TypeVar("Answer")
Answer_co = TypeVar("Answer_co", covariant=True)


class Request(Struct, Generic[Answer_co], frozen=True, gc=False):
    """A request of an API. A broker answers `Request[EndTxnResponse]` with an `EndTxnResponse`."""
