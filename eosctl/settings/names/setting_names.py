"""Which keys are settings of Kafka, of its clients' libraries, or of frameworks around them."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final

from eosctl.knowledge.parameter_tables import java_names, only_librdkafka
from eosctl.settings.names.client_family import keywords
from eosctl.settings.names.recognition import KSQL_REPLICAS, PREFIXED

SPRING: Final = re.compile(r"^spring\.(kafka|cloud\.stream)\.", re.IGNORECASE)
# Settings of Kafka that are common words.
COMMON_WORDS: Final = frozenset(
    {
        *("clusters", "debug", "enabled", "groups", "interceptors", "listeners", "log_level", "name", "opaque"),
        *("partitioner", "port", "preallocate", "predicates", "retries", "topics", "transforms"),
    }
)
OF_PROGRAMS: Final = frozenset({"debug", "enabled", "log_level", "port", "retries"})
"""Those that a program has for itself, too: next to mappings of clients they are its own."""
FLINK: Final = re.compile(
    r"^(execution\.checkpointing\.|sink\.delivery-guarantee|sink\.transactional-id-prefix|sink\.semantic|scan\.startup\.)"
)
# Micronaut's clients by name, default among them.
NAMED: Final = re.compile(r"^kafka\.(producers|consumers)\.([\w-]+)\.(.+)$")
# Micronaut's Streams applications by name.
_NAMED_STREAMS: Final = re.compile(r"^kafka\.streams\.[\w-]+\.(.+)$")
# A broker's setting; the factor of an application that Micronaut calls default is spelled so, too.
_OF_BROKERS: Final = "default.replication.factor"
# What Streams hands to one of its clients, or to the topics that it makes.
_OF_STREAMS: Final = re.compile(r"^(?:producer|(?:main\.|restore\.|global\.)?consumer|admin|topic)\.")
CHANNEL: Final = re.compile(r"^mp\.messaging\.(outgoing|incoming|connector)\.([\w-]+)\.(.+)$")
# The connector of SmallRye Reactive Messaging, and those of Helidon and Open Liberty.
SMALLRYE_KAFKA: Final = "smallrye-kafka"
KAFKA_CONNECTORS: Final = frozenset({SMALLRYE_KAFKA, "helidon-kafka", "liberty-kafka"})
COMMIT_STRATEGY: Final = "commit-strategy"
"""Who commits the offsets of an incoming channel of SmallRye's."""
# Quarkus hands what stands under these to Kafka Streams alone.
QUARKUS_STREAMS: Final = ("quarkus.kafka-streams.", "kafka-streams.")
_OF_QUARKUS_STREAMS: Final = (
    *("application-", "bootstrap-servers", "security.", "sasl.", "ssl.", "schema-registry", "topic"),
)
"""The options of Quarkus' extension; it hands no other key to Kafka Streams."""
LIBRARY_PREFIXES: Final = (
    *QUARKUS_STREAMS,
    "kafka.streams.",
    "ksql.streams.",
    "streams.",
    "kafka.",
)


def setting_after(prefix: str, key: str) -> str | None:
    """Return what stands after a prefix as Kafka spells it; None where the key begins otherwise.

    >>> setting_after("quarkus.kafka-streams.", "quarkus.kafka-streams.application-id")
    'application.id'
    """
    if not key.startswith(prefix):
        return None
    rest = key[len(prefix) :]
    is_own = (rest in known_names() and rest != _OF_BROKERS) or _OF_STREAMS.match(rest) is not None
    if prefix == "kafka.streams." and not is_own and (named := _NAMED_STREAMS.match(key)):
        rest = named[1]
    if prefix.startswith("quarkus."):
        return rest.replace("-", ".") if rest.startswith(_OF_QUARKUS_STREAMS) else None
    return rest


@cache
def known_names() -> frozenset[str]:
    """Return the names of all settings of Kafka and of its clients."""
    return java_names() | only_librdkafka() | keywords()


_PREFIXES: Final = ("main.consumer.", "restore.consumer.", "global.consumer.", "topic.", "admin.", *LIBRARY_PREFIXES)


@lru_cache(maxsize=65_536)
def is_setting(key: str) -> bool:
    """Return whether a key is a setting of Kafka, with or without the prefix of a library."""
    if key in known_names() or key == KSQL_REPLICAS or FLINK.match(key) or "->" in key or key.startswith("properties."):
        return True
    match = NAMED.match(key) or PREFIXED.match(key) or CHANNEL.match(key)
    if match is not None and match.groups()[-1] in known_names():
        return True
    return key.startswith(_PREFIXES) and any(
        (rest := setting_after(prefix, key)) in known_names() and rest not in COMMON_WORDS for prefix in _PREFIXES
    )


def setting_of(text: str) -> str:
    """Turn ``TRANSACTION_STATE_LOG_MIN_ISR`` into the setting; ``__`` stands for ``_`` and ``___`` for ``-``."""
    return re.sub(r"_+", lambda m: {1: ".", 2: "_", 3: "-"}.get(len(m[0]), "."), text.lower())
