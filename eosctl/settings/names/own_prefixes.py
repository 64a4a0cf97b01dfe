"""Settings of Kafka behind beginnings that a program made up: ``ledger.kafka.transactional.id``.

Mappings need no beginning: each is read by itself. In a file without mappings the keys that begin alike are one client
or one application of Kafka Streams.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from eosctl.model.deployment import Place, Role
from eosctl.settings.formats.tree import Leaf
from eosctl.settings.names.library_words import turned
from eosctl.settings.names.recognition import CLIENT_KEYS, CLIENTS, decide, streams_prefixes
from eosctl.settings.names.setting_names import LIBRARY_PREFIXES, is_setting, known_names
from eosctl.settings.names.unread import CLIENT_SETTINGS
from eosctl.settings.values.sources import Source, value_of

_OF_CLIENTS: Final = frozenset(name for role in CLIENTS for name in CLIENT_KEYS[role])
# Programs that read all of their file by themselves, and hand parts of it to clients of their own.
_WHOLE: Final = (Role.BROKER, Role.CONNECT_WORKER, Role.MIRROR_MAKER, Role.STREAMS)
_PINOT: Final = "stream.kafka."
_STARTS: Final = {"smallest": "earliest", "largest": "latest"}
_MOST_PARTS: Final = 12
"""More parts than the name of any setting has."""


def own_prefixes(leaves: Iterable[tuple[str, Leaf]], file: str) -> tuple[str, ...]:
    """Return the beginnings under which flat keys hold an application of Kafka Streams, or else Kafka's clients."""
    given = list(leaves)
    keys = [key for key, _ in given]
    streams = tuple(prefix for prefix in streams_prefixes(keys) if prefix not in LIBRARY_PREFIXES)
    return streams or _client_prefixes(given, file)


def sources_under(
    leaves: Iterable[tuple[str, Leaf]], prefixes: Iterable[str], file: str, hints: tuple[str, ...]
) -> Iterator[Source]:
    """Yield what each of the beginnings configures."""
    given, begins = list(leaves), tuple(prefixes)
    is_streams = begins == streams_prefixes(key for key, _ in given)
    for prefix in begins:
        own = [(name.removeprefix(prefix), name, leaf) for name, leaf in given if name.startswith(prefix)]
        values = {name: value_of(key, _in_words_of_kafka(leaf, prefix), file, name) for name, key, leaf in own}
        label = prefix.rstrip(".") if len(begins) > 1 else ""
        words = ("streams",) if is_streams else (prefix.lower(),)
        # Clients in one file are parts of one program.
        application = None if is_streams else ""
        yield Source(Place(file, own[0][2].line), values, label, hints=(*hints, *words), application=application)


def _in_words_of_kafka(leaf: Leaf, prefix: str) -> Leaf:
    """Return a value of a table of Apache Pinot with Kafka's word for where to start."""
    if not prefix.startswith(_PINOT):
        return leaf
    return replace(leaf, text=_STARTS.get(leaf.text or "", leaf.text), words=turned(_STARTS))


def _client_prefixes(leaves: list[tuple[str, Leaf]], file: str) -> tuple[str, ...]:
    """Return the beginnings with a setting that nothing but a client of Kafka has, or with the word Kafka."""
    names: dict[str, set[str]] = {}
    for key, _ in leaves:
        prefix, name = _split(key)
        if prefix:
            names.setdefault(prefix, set()).add(name)
    found = tuple(prefix for prefix, own in names.items() if _is_client(prefix, own))
    if not found:
        return ()
    plain = {key: value_of(key, leaf, file) for key, leaf in leaves}
    whole = decide(plain)
    is_of_one = "connector.class" in plain or (whole is not None and whole.role in _WHOLE)
    return () if is_of_one else found


def _split(key: str) -> tuple[str, str]:
    """Return what stands before the setting that a key ends in, and the setting; nothing where Kafka has such a key."""
    parts = key.split(".")
    if len(parts) < 2 or is_setting(key):
        return "", ""
    names = (".".join(parts[first:]) for first in range(max(1, len(parts) - _MOST_PARTS), len(parts)))
    name = next((name for name in names if name in known_names() and ("." in name or name == "acks")), "")
    return key[: -len(name)] if name else "", name


def _is_client(prefix: str, names: set[str]) -> bool:
    certain = CLIENT_SETTINGS - {"acks"}
    return not names.isdisjoint(certain) or ("kafka" in prefix.lower() and not names.isdisjoint(_OF_CLIENTS))
