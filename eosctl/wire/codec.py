"""Codecs of messages, by API and version."""

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
    """Functions that encode and decode one API in one version.

    Decoders take a buffer and the position of the message in it. They return the message and the position after it, and
    raise WireError for malformed bytes. Encoders take a message of the API's own struct and skip fields that the
    version does not have.
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
    """Load the codec of an API in one version. Codecs of other versions are not imported.

    Raises:
        KeyError: The API or the version is unknown.
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
    """Return the versions that eosctl can encode, unstable versions included."""
    request = APIS[api_key].request
    return range(request.first, request.last + 1)


def served_versions(api_key: int, release: str) -> range:
    """Return the versions that a release of Kafka serves by default.

    Args:
        api_key: The API.
        release: `3.9` or `4.3`.

    Returns:
        The versions; empty when the release does not have the API.
    """
    first, last = APIS[api_key].served.get(release, (0, -1))
    return range(first, last + 1)


def is_flexible(api_key: int, version: int) -> bool:
    """Return whether a version has tagged fields and therefore the longer headers (KIP-482)."""
    flexible_from = APIS[api_key].request.flexible_from
    return flexible_from is not None and version >= flexible_from


def load_message(message: Message, version: int) -> tuple[Decode[Struct], Encode[Struct]]:
    """Load the decoder and the encoder of a message in one version.

    Raises:
        KeyError: The message does not have this version.
    """
    module = import_module(message.codec_module(version))
    return module.decode, module.encode
