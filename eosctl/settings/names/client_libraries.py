"""Clients that are neither Kafka's own nor librdkafka's: how to recognize them, and the defaults that decide.

Only the defaults that decide on exactly-once are here. What is not is unknown, and rules that need it are skipped.
Sources: the libraries' references (KafkaJS ``producer()`` and ``consumer()``, sarama ``NewConfig``, kafka-go ``Writer``
and ``ReaderConfig``, franz-go ``kgo.Opt``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.model.deployment import Client, Role
from eosctl.model.parameter import relaxed
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row

Defaults = Mapping[str, str | None]
_UNKNOWN: Final[Defaults] = MappingProxyType({})


class Library(NamedTuple):
    """A client library.

    Attributes:
        words: What files and keys call it.
        names: Names of its options that no other client spells so, as :func:`relaxed` returns them.
        producer: The defaults of its producer, by Kafka's names.
        consumer: The defaults of its consumer.
    """

    words: tuple[str, ...]
    names: frozenset[str] = frozenset()
    producer: Defaults = _UNKNOWN
    consumer: Defaults = _UNKNOWN


# Ids and static members have no defaults.
_NONE: Final[Defaults] = {"transactional.id": None, "group.instance.id": None, "group.id": None}
_READS_ALL: Final[Defaults] = {"isolation.level": "read_uncommitted"}

_SARAMA_REQUESTS: Final = "maxopenrequests"
_MAX_OPEN: Final = re.compile(r"max[_-]?open[_-]?requests")
_WITHOUT_TRANSACTIONS: Final = re.compile(r"[vV]?0[._](?:8|9|10)[._].*")
"""Versions of the protocol, next to a producer of sarama, that decide what it may do."""
# No other library has one of these.
_FRANZ: Final = frozenset(
    {"fetchisolationlevel", "seedbrokers", "disableidempotentwrite", "maxproducerequestsinflightperbroker"}
)

LIBRARIES: Final[Mapping[Client, Library]] = {
    Client.KAFKAJS: Library(
        ("kafkajs", "kafka-js", "nestjs"),
        frozenset(
            {
                *("readuncommitted", "maxinflightrequests", "allowautotopiccreation", "rebalancetimeout"),
                *("authenticationtimeout", "connectiontimeout", "heartbeatinterval", "retry.initialretrytime"),
            }
        ),
        {"acks": "all", "enable.idempotence": "false", "transaction.timeout.ms": "60000"},
        {"isolation.level": "read_committed", "session.timeout.ms": "30000", "heartbeat.interval.ms": "3000"},
    ),
    Client.SARAMA: Library(
        ("sarama",),
        frozenset({_SARAMA_REQUESTS}),
        {"acks": "1", "enable.idempotence": "false", "transaction.timeout.ms": "60000"},
        {**_READS_ALL, "enable.auto.commit": "true", "session.timeout.ms": "10000", "heartbeat.interval.ms": "3000"},
    ),
    Client.KAFKA_GO: Library(
        ("kafka-go", "kafkago", "segmentio"),
        frozenset({"batchtimeout", "commitinterval", "queuecapacity", "readbatchtimeout", "maxattempts"}),
        {"acks": "0", "enable.idempotence": "false"},
        _READS_ALL,
    ),
    Client.FRANZ_GO: Library(
        ("franz-go", "franz", "kgo"),
        _FRANZ,
        {"acks": "all", "enable.idempotence": "true", "transaction.timeout.ms": "40000"},
        # GroupTransactSession commits offsets itself; whether a program uses it, no file shows.
        {**_READS_ALL, "session.timeout.ms": "45000", "heartbeat.interval.ms": "3000"},
    ),
    Client.RSKAFKA: Library(("rskafka",)),
    Client.RUBY_KAFKA: Library(("ruby-kafka", "ruby_kafka")),
    Client.PHPKAFKA: Library(("phpkafka",)),
}
_NAMES: Final = re.compile("|".join(re.escape(word) for library in LIBRARIES.values() for word in library.words))
_SEND: Final = re.compile(r"""["']?\b(?:send|run)\w*(?:["']?\s*:\s*(?:\{|$)|\(\s*\{)""", re.MULTILINE)
_APART: Final = (
    ("net", _SARAMA_REQUESTS, "producer"),
    ("send", "acks", "producer"),
    ("sendoptions", "acks", "producer"),
    ("run", "autocommit", "consumer"),
)
"""Options that stand next to a client: the mapping that has them, their name, and the client."""
# Words that stand for a library only where its names do, too.
_NODE: Final = "node"
_CAMEL: Final = frozenset({"groupId", "transactionalId", "clientId"})
# Go spells the initials of ReaderConfig so.
_READER_CONFIG: Final = frozenset({"groupID", "GroupID"})
_SHARED_NAMES: Final = frozenset(
    {
        *("requiredacks", "idempotent", "idempotentwrite", "idempotentwrites", "transactionid", "autocommit"),
        *("maxinflightrequests", "readuncommitted"),
    }
)


def library_of(keys: Iterable[str], hints: str) -> Client | None:
    """Return the library whose client a file configures; None where it is one of Kafka's or librdkafka's family.

    Args:
        keys: The keys as they stand in the file, with what they stand under.
        hints: Words of the surroundings, in lower case.

    Examples:
        >>> library_of(["kafka.producer.maxInFlightRequests"], "app.json").value
        'KafkaJS'
        >>> library_of(["kafka.writer.requiredAcks"], "app.yaml").value
        "another library's"
        >>> library_of(["producer.transactional.id"], "node.yaml") is None
        True
    """
    written = tuple(keys)
    around = f"{hints} {' '.join(written).lower()}"
    named = next((client for client, one in LIBRARIES.items() if any(word in around for word in one.words)), None)
    if named is not None:
        return named
    last = {key.rpartition(".")[2] for key in written}
    if not last.isdisjoint(_READER_CONFIG):
        return Client.KAFKA_GO
    if not {relaxed(key) for key in last}.isdisjoint(_FRANZ):
        return Client.FRANZ_GO
    options = {relaxed(key) for key in last}
    shared = bool(options & _SHARED_NAMES)
    scores = {client: len(options & one.names) for client, one in LIBRARIES.items()}
    best = max(scores, key=lambda client: scores[client])
    if scores[best] and (shared or scores[best] > 1 or options & LIBRARIES[best].names & _SHARED_NAMES):
        return best
    if shared:
        return Client.OTHER
    return Client.KAFKAJS if _NODE in hints and not last.isdisjoint(_CAMEL) else None


def has_options_apart(text: str) -> bool:
    """Return whether a file names options of a client as sarama or KafkaJS do, apart from the client's other ones."""
    has_send = "send" in text or "run" in text
    lower = text.lower()
    has_requests = "requests" in lower and _MAX_OPEN.search(lower) is not None
    return has_requests or (has_send and _SEND.search(text) is not None)


def with_options_joined(node: Node) -> Node:
    """Return a tree with the options of producers and consumers at each of them.

    sarama keeps the requests in flight in ``Net`` next to the producer; KafkaJS takes acks with ``send``, and the
    automatic commit with ``run``.
    """
    if isinstance(node, Row):
        return Row(tuple(map(with_options_joined, node.nodes)), node.line)
    if not isinstance(node, Branch):
        return node
    entries = {key: with_options_joined(child) for key, child in node.entries}
    named = {relaxed(key): key for key in entries}
    for part, option, client in _APART:
        if part not in named or client not in named:
            continue
        around, own = entries[named[part]], entries[named[client]]
        if isinstance(around, Branch) and isinstance(own, Branch):
            moved = tuple(entry for entry in around.entries if relaxed(entry[0]) == option)
            entries[named[part]] = Branch(tuple(entry for entry in around.entries if entry not in moved), around.line)
            is_sarama = option == _SARAMA_REQUESTS
            version = entries.get(named.get("version", ""))
            is_old = isinstance(version, Leaf) and _WITHOUT_TRANSACTIONS.fullmatch(version.text or "") is not None
            shown = ((named["version"], version),) if version and is_old and is_sarama and moved else ()
            below = tuple(
                (f"{named[part]}.{key}", child) if is_sarama else (key, _moved(child, f"{named[part]}.{key}"))
                for key, child in moved
            )
            entries[named[client]] = Branch((*own.entries, *below, *shown), own.line)
    return Branch(tuple(entries.items()), node.line)


def _moved(node: Node, written: str) -> Node:
    return replace(node, written=written) if isinstance(node, Leaf) else node


def names_library(words: str) -> bool:
    """Return whether the words of the surroundings, in lower case, have the name of a client library."""
    return _NAMES.search(words) is not None


def library_defaults(role: Role, client: Client) -> Defaults:
    """Return the defaults that are known of a library's client."""
    library = LIBRARIES.get(client, Library(()))
    return {**_NONE, **(library.producer if role is Role.PRODUCER else library.consumer)}
