"""What all requests have in common: the type of a request names the type of its answer."""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import Struct

Answer = TypeVar("Answer")
Answer_co = TypeVar("Answer_co", covariant=True)


class Request(Struct, Generic[Answer_co], frozen=True, gc=False):
    """A request of an API; `Request[EndTxnResponse]` is one that a broker answers with an `EndTxnResponse`."""
