"""Find the codec of an API in one version."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TypeAlias, TypeVar, cast

from msgspec import Struct

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.generated.index import APIS
from eosctl.wire.message import Message
from eosctl.wire.request import Request

AnyRequest: TypeAlias = Request[object]
M = TypeVar("M", bound=Struct)
Decode: TypeAlias = Callable[[bytes, int], tuple[M, int]]
Encode: TypeAlias = Callable[[M], bytes]


@dataclass(frozen=True)
class Codec:
    """The four functions of one API in one version.

    Decoders take a buffer and the position of the message in it, and return the message and the position
    after it; they raise WireError. Encoders take a message of the API's own struct; fields that the
    version lacks are left out silently.
    """

    api_key: ApiKey
    version: int
    flexible: bool
    decode_request: Decode[AnyRequest]
    encode_request: Encode[AnyRequest]
    decode_response: Decode[Struct]
    encode_response: Encode[Struct]


@cache
def codec(api_key: int, version: int) -> Codec:
    """Load the codec of an API in one version, and no other version's code.

    Raises:
        KeyError: There is no such API or version here.
    """
    api = APIS[api_key]
    if not api.request.first <= version <= api.request.last:
        raise KeyError((api.name, version))
    decode, encode = load_message(api.request, version)
    return Codec(
        ApiKey(api_key),
        version,
        is_flexible(api_key, version),
        cast(Decode[AnyRequest], decode),
        encode,
        *load_message(api.response, version),
    )


def versions(api_key: int) -> range:
    """Give the versions that eosctl can encode, stable ones or not."""
    request = APIS[api_key].request
    return range(request.first, request.last + 1)


def served_versions(api_key: int, release: str) -> range:
    """Give the versions that a release of Kafka serves by default.

    Args:
        api_key: The API.
        release: `3.9` or `4.3`.

    Returns:
        The versions; empty when the release does not have the API.
    """
    first, last = APIS[api_key].served.get(release, (0, -1))
    return range(first, last + 1)


def is_flexible(api_key: int, version: int) -> bool:
    """Tell whether a version has tags and therefore the longer headers (KIP-482)."""
    flexible_from = APIS[api_key].request.flexible_from
    return flexible_from is not None and version >= flexible_from


def load_message(message: Message, version: int) -> tuple[Decode[Struct], Encode[Struct]]:
    """Load decoder and encoder of a message in one version.

    Raises:
        KeyError: The message has no such version.
    """
    module = import_module(message.codec_module(version))
    return module.decode, module.encode
