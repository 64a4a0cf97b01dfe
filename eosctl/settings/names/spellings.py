"""Settings in the spelling of tools: ``min_insync_replicas``, ``minInsyncReplicas``, ``min-insync-replicas``.

Terraform's providers, charts and applications' own files write names so that their format need not quote dots. Where
Kafka itself reads a file, only its own spelling counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final

from eosctl.knowledge.parameter_tables import kafka_tables
from eosctl.model.parameter import relaxed
from eosctl.settings.formats.sql_file import SQL_FILES
from eosctl.settings.formats.tree import Leaf
from eosctl.settings.names.client_libraries import names_library
from eosctl.settings.names.library_words import DISABLES, as_kafka_writes

_JOINED: Final = re.compile(r"[a-z0-9]+(?:[_-][a-z0-9]+)+|[a-zA-Z][a-z0-9]*(?:[A-Z][a-z0-9]*)+")
_READ_BY_KAFKA: Final = (".properties", ".cfg", ".config", ".conf", ".env", ".ini", *SQL_FILES)
# Names that occur in files about anything: alone they do not indicate Kafka.
_COMMON: Final = frozenset(
    {
        *("application.id", "application.server", "batch.size", "bootstrap.servers", "broker.id", "buffer.memory"),
        *("client.id", "client.rack", "compression.type", "config.providers", "connections.max.idle.ms"),
        *("connector.class", "group.id", "header.converter", "heartbeat.interval.ms", "host.name", "key.converter"),
        *("log.dir", "log.dirs", "log.level", "max.connections", "max.request.size", "message.max.bytes", "node.id"),
        *(
            "num.partitions",
            "plugin.path",
            "receive.buffer.bytes",
            "replication.factor",
            "request.timeout.ms",
            "retry.backoff.ms",
        ),
        *("security.protocol", "send.buffer.bytes", "session.timeout.ms", "state.dir", "tasks.max", "value.converter"),
    }
)
_GUARANTEE: Final = "processing.guarantee"
# Faust and Quix Streams have words of their own for it: only next to one of the names below it is Kafka Streams'.
_OF_OTHERS: Final = frozenset({"processing_guarantee"})
_OF_CLIENT: Final = re.compile(
    r"(producer|(?:main[_-]?|restore[_-]?|global[_-]?)?consumer|topic)[_-]?(?=[A-Z]|(?<=[_-]))", re.IGNORECASE
)
"""What stands before a setting that Streams hands to a client, or to the topics that it makes."""
_BORDER: Final = re.compile(r"[_-]|(?<=[a-z])(?=[A-Z])")
_OF_STREAMS: Final = frozenset({"application.id", "commit.interval.ms", "num.standby.replicas", "num.stream.threads"})
# .NET's properties of one word.
_SINGLE_WORDS: Final = {"Acks": "acks"}

# Names of sarama, kafka-go, franz-go, and KafkaJS for what Kafka's own clients call otherwise.
LIBRARY_NAMES: Final = {
    "requiredacks": "acks",
    "idempotent": "enable.idempotence",
    "idempotentwrite": "enable.idempotence",
    "idempotentwrites": "enable.idempotence",
    DISABLES: "enable.idempotence",
    "maxopenrequests": "max.in.flight.requests.per.connection",
    "maxinflightrequests": "max.in.flight.requests.per.connection",
    "maxproducerequestsinflightperbroker": "max.in.flight.requests.per.connection",
    "transactionid": "transactional.id",
    "autocommit": "enable.auto.commit",
    "readuncommitted": "isolation.level",
    "fetchisolationlevel": "isolation.level",
}
_OF_BUSINESS: Final = frozenset({"transactionid"})
"""Those of them that data of programs have, too: the name of their file alone does not show a client."""
# Names that count only next to one of those, as others have them for other things; with what they stand under.
_LIBRARY_TAILS: Final = {
    "consumergroup": "group.id",
    "consumer.group": "group.id",
    "transactiontimeout": "transaction.timeout.ms",
    "transaction.timeout": "transaction.timeout.ms",
    "transaction.id": "transactional.id",
    "retry.retries": "retries",
    "retry.max": "retries",
    "autocommit.enable": "enable.auto.commit",
    "sessiontimeout": "session.timeout.ms",
    "heartbeatinterval": "heartbeat.interval.ms",
}
_GROUP: Final = "transaction."


@cache
def _by_letters() -> dict[str, str]:
    names = (name for table in kafka_tables().values() for name in table.parameters if "." in name)
    return {relaxed(name): name for name in names}


def setting_of_letters(word: str) -> str | None:
    """Return the setting that has these letters and digits alone, in any case; None where Kafka has none.

    >>> setting_of_letters("TRANSACTIONALID"), setting_of_letters("Acks"), setting_of_letters("TOPIC")
    ('transactional.id', 'acks', None)
    """
    return _by_letters().get(relaxed(word), "acks" if relaxed(word) == "acks" else None)


@lru_cache(maxsize=65_536)
def setting_meant(key: str) -> str | None:
    """Return the setting that a key names in another spelling than Kafka's; None when it names none, or Kafka's way.

    >>> setting_meant("minInsyncReplicas")
    'min.insync.replicas'
    >>> setting_meant("max_workers") is None
    True
    """
    return _by_letters().get(relaxed(key)) if _JOINED.fullmatch(key) and key not in _OF_OTHERS else None


def respelled(leaves: Iterable[tuple[str, Leaf]], file: str, hints: Iterable[str] = ()) -> list[tuple[str, str, Leaf]]:
    """Return each leaf with the name that Kafka has for the last part of its key, then the key as it stands there.

    All keep theirs in files that Kafka reads itself, and if neither a name nor the words around it mention Kafka.
    """
    given = list(leaves)
    if file.lower().endswith(_READ_BY_KAFKA) and not (_is_hocon(file, given) or _is_dotnet(file, given)):
        return [(key, key, leaf) for key, leaf in given]
    lasts = {key.rpartition(".")[2] for key, _ in given}
    name = file.rpartition("/")[2].lower()
    within = "\n".join((*(hint for hint in hints if not hint.startswith(name)), *(key.lower() for key, _ in given)))
    around = f"{name}\n{within}"
    is_of_library = names_library(around)
    speaks = is_of_library or "kafka" in around
    words = {relaxed(last) for last in lasts} - (frozenset() if "kafka" in within else _OF_BUSINESS)
    by_library = is_of_library or (speaks and not words.isdisjoint(LIBRARY_NAMES))
    known = {meant for last in lasts if (meant := setting_meant(last))}
    if not by_library and not (known if speaks else known - _COMMON):
        return [(key, key, leaf) for key, leaf in given]
    is_streams = not _OF_STREAMS.isdisjoint(known)
    of_streams = {last: name for last in lasts if is_streams and (name := _of_streams(last))}
    parts = [(*key.rpartition("."), key, leaf) for key, leaf in given]
    found = [
        (head + dot, last, of_streams.get(last) or setting_meant(last), key, leaf)
        for head, dot, last, key, leaf in parts
    ]

    def written(name: str, last: str, leaf: Leaf) -> Leaf:
        is_library_name = relaxed(last) in LIBRARY_NAMES
        return as_kafka_writes(name, last, leaf, by_library=by_library, is_library_name=is_library_name)

    return [
        (_without_group(head, name) + name, _as_written(key), written(name, last, leaf))
        for head, last, meant, key, leaf in found
        for name in (meant or _SINGLE_WORDS.get(last) or _by_its_library(key, by_library) or last,)
    ]


def _of_streams(last: str) -> str:
    """Return the setting of Kafka Streams that only its neighbors show; empty for others.

    >>> _of_streams("processing_guarantee"), _of_streams("producerTransactionTimeoutMs"), _of_streams("topic_name")
    ('processing.guarantee', 'producer.transaction.timeout.ms', '')
    """
    if last in _OF_OTHERS:
        return _GUARANTEE
    found = _OF_CLIENT.match(last) if _JOINED.fullmatch(last) else None
    name = _by_letters().get(relaxed(last[found.end() :])) if found is not None else None
    return "" if found is None or name is None else f"{_dots(found[1])}.{name}"


def _dots(word: str) -> str:
    return _BORDER.sub(".", word).lower()


def _is_hocon(file: str, leaves: Iterable[tuple[str, Leaf]]) -> bool:
    """Return whether a file is an application's own of HOCON, where names have dashes as Kafka's never do."""
    return file.lower().endswith(".conf") and any("-" in key.rpartition(".")[2] for key, _ in leaves)


def _is_dotnet(file: str, leaves: Iterable[tuple[str, Leaf]]) -> bool:
    """Return whether a file is an application's own of .NET, where names begin with a capital."""
    return file.lower().endswith(".config") and any(key.rpartition(".")[2][:1].isupper() for key, _ in leaves)


_NET: Final = re.compile(r"(?<![^.])producer\.(?=net\.[\w-]+$)", re.IGNORECASE)


_OFFSETS: Final = re.compile(r"(?<![^.])offsets\.(?:auto_?commit\.)?$", re.IGNORECASE)
"""Where sarama has the switch of the automatic commit: ``Consumer.Offsets.AutoCommit.Enable``."""


def _as_written(key: str) -> str:
    """Return a key as it stands in the file, where sarama's ``Net`` is next to its producer.

    >>> _as_written("sarama.producer.net.max_open_requests")
    'sarama.net.max_open_requests'
    """
    return _NET.sub("", key)


def _without_group(head: str, name: str) -> str:
    """Return what stands before a name, without the mapping of one kind: ``transaction``, ``net``, ``retry``."""
    if name == "max.in.flight.requests.per.connection" and head.lower().endswith("net."):
        return head[: -len("net.")]
    if name == "retries" and head.lower().endswith("retry."):
        return head[: -len("retry.")]
    if name == "enable.auto.commit":
        return _OFFSETS.sub("", head)
    return head[: -len(_GROUP)] if name.startswith("transaction") and head.lower().endswith(_GROUP) else head


def _by_its_library(key: str, by_library: bool) -> str | None:
    """Return Kafka's name for a library's, which may be one of two words in two levels."""
    above, _, last = key.rpartition(".")
    pair = f"{relaxed(above.rpartition('.')[2])}.{relaxed(last)}"
    tail = _LIBRARY_TAILS.get(pair) or _LIBRARY_TAILS.get(relaxed(last)) if by_library else None
    return tail or LIBRARY_NAMES.get(relaxed(last))
