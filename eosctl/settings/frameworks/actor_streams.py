"""Streams of Alpakka and Pekko: their clients, and the transactional ids that an application's own keys have.

Sources: ``reference.conf`` of both, ``ProducerSettings``, and ``Transactional.sink``, which is given its id by the
program.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from eosctl.model.deployment import Place, Role
from eosctl.model.parameter import relaxed
from eosctl.settings.formats.tree import Branch, Leaf, Node, flatten
from eosctl.settings.names.recognition import CLIENT_KEYS
from eosctl.settings.names.unread import unread
from eosctl.settings.values.sources import Source, value_of, values_of

ALPAKKA_INTERVAL: Final = "eos-commit-interval"
_ACTORS: Final = ("akka", "pekko")
_ID: Final = "transactional.id"
_IDS: Final = ("transactionalid", "transactionalidprefix", "transactionidprefix")


def is_of_actors(document: Node) -> bool:
    """Return whether a file configures Kafka for Alpakka or Pekko."""
    return isinstance(document, Branch) and any(
        document.get(name, "kafka") is not None or any(key.startswith(f"{name}.kafka") for key, _ in document.entries)
        for name in _ACTORS
    )


def alpakka_client(node: Branch, clients: Branch, file: str, hints: tuple[str, ...]) -> Iterator[Source]:
    """Yield a client of Alpakka or Pekko: Kafka's settings stand in ``kafka-clients``, its own next to them."""
    given = dict(flatten(clients))
    own = node.get(ALPAKKA_INTERVAL)
    made: dict[str, str | None] = {}
    if isinstance(own, Leaf):
        given[ALPAKKA_INTERVAL] = own
        made = {"enable.idempotence": "true"}  # Transactional.sink, which alone reads the interval, sets it
    elif hints[-1].endswith("consumer"):
        made = {"enable.auto.commit": "false"}  # reference.conf of Alpakka and Pekko
    outside = values_of(((name, leaf) for key, child in node.entries for name, leaf in flatten(child, key)), file)
    if given:
        left = unread(outside, lambda name: f"kafka-clients.{name}")
        yield Source(Place(file, node.line), values_of(given.items(), file), hints=hints, framework=made, unread=left)


def with_ids_of_streams(parts: list[Source], document: Node, file: str) -> list[Source]:
    """Return the parts of a document, the producer of its streams with the id that stands under a key of its own.

    With several such ids or producers, nothing shows which of them belong together.
    """
    of_streams = [one for one in parts if one.role is Role.PRODUCER and not _set(one.hints).isdisjoint(_ACTORS)]
    if len(of_streams) != 1 or not is_of_actors(document):
        return parts
    ids = [(key, leaf) for key, leaf in flatten(document) if relaxed(key).endswith(_IDS) and leaf.text]
    if len(ids) != 1 or _ID in of_streams[0].values:
        return parts
    ((key, leaf),) = ids
    made = replace(of_streams[0], values={**of_streams[0].values, _ID: value_of(key, leaf, file, _ID)})
    others = [made if one is of_streams[0] else one for one in parts]
    return [one for one in others if one is made or not _is_id_alone(one)]


def _set(hints: tuple[str, ...]) -> frozenset[str]:
    return frozenset(part for hint in hints for part in hint.split("."))


def _is_id_alone(source: Source) -> bool:
    return source.role is Role.PRODUCER and CLIENT_KEYS[Role.PRODUCER] & source.values.keys() == {_ID}
