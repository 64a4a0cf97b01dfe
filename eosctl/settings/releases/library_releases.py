"""The release of a client library that a project pins in its list of dependencies.

The packages of librdkafka's makers for Python, .NET, and Go carry its release in their own: confluent-kafka 2.5.3
brings librdkafka 2.5. A range names no release: what is installed is then not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from eosctl.knowledge.parameter_tables import parse_release
from eosctl.model.deployment import Client
from eosctl.model.parameter import Release

_VERSION: Final = r"v?(?P<version>\d+\.\d+)"
_EXTRAS: Final = r"(?:\[[\w, -]*\])?"


def _of_python(package: str) -> tuple[str, ...]:
    name = package.replace("-", "[-_.]")
    return (
        # requirements.txt, setup.cfg, and PEP 621: an exact release, or a compatible one of the same minor.
        rf"(?<![\w.-]){name}{_EXTRAS}[ \t]*(?:===?[ \t]*v?(?P<exact>\d+\.\d+)|~=[ \t]*(?P<near>\d+\.\d+)\.\d)",
        # Poetry and Pipenv: a bare version is an exact one.
        rf"^[ \t]*[\"']?{name}[\"']?[ \t]*=[ \t]*(?:\{{[^}}\n]*?\bversion[ \t]*=[ \t]*)?[\"'](?:==)?{_VERSION}",
    )


_PINS: Final[Mapping[Client, tuple[str, ...]]] = {
    Client.LIBRDKAFKA: (
        *_of_python("confluent-kafka"),
        rf"Include=\"(?:Confluent\.Kafka|librdkafka\.redist)\"\s+Version=\"\[?{_VERSION}",
        rf"confluent-kafka-go(?:/v\d+|\.v\d+)?[ \t]+{_VERSION}",
    ),
    Client.KAFKA_PYTHON: _of_python("kafka-python"),
    Client.AIOKAFKA: _of_python("aiokafka"),
}
PINNED: Final = frozenset(_PINS)
"""The libraries whose releases lists of dependencies pin."""
_PATTERNS: Final = {
    client: tuple(re.compile(one, re.IGNORECASE | re.MULTILINE) for one in patterns)
    for client, patterns in _PINS.items()
}


def library_release(client: Client | None, texts: Iterable[str]) -> Release | None:
    """Return the one release of a library that lists of dependencies pin; None without one.

    Args:
        client: The library.
        texts: The lists.

    >>> library_release(Client.LIBRDKAFKA, ["confluent-kafka[avro]==2.5.3"])
    (2, 5)
    >>> library_release(Client.AIOKAFKA, ["aiokafka>=0.8"]) is None
    True
    """
    patterns = _PATTERNS.get(client, ()) if client is not None else ()
    matches = (match for text in texts for pattern in patterns for match in pattern.finditer(text))
    found = {next(filter(None, match.groups())) for match in matches}
    return parse_release(found.pop()) if len(found) == 1 else None
