"""Detect the client library of a file: by names that only one has, by their spelling, and by the words around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from eosctl.knowledge.parameter_tables import java_names, load_tables, only_librdkafka
from eosctl.model.deployment import PYTHON_CLIENTS, Client
from eosctl.settings.names.client_libraries import library_of

_SERIALIZERS: Final = frozenset({"key.serializer", "value.serializer", "key.deserializer", "value.deserializer"})
_WORDS: Final = {
    Client.AIOKAFKA: ("aiokafka", "faust"),
    Client.KAFKA_PYTHON: ("kafka-python", "kafka_python"),
    Client.LIBRDKAFKA: (
        "rdkafka",
        "confluent-kafka",
        "confluent_kafka",
        "kcat",
        "golang",
        "dotnet",
        "appsettings",
        "node",
    ),
}
_PYTHON: Final = "python"
# Keyword arguments that are common words.
_COMMON_WORDS: Final = frozenset({"loop", "selector", "proxy_url", "ssl_context", "ssl_ciphers", "ssl_password"})


def client_of(names: Mapping[str, str], hints: Iterable[str]) -> Client:
    """Return the client library of a set of settings; Java's by default.

    Args:
        names: The keys in the file, by Kafka's name.
        hints: Words of the surroundings.

    Examples:
        >>> client_of({"acks": "acks", "sasl_plain_username": "sasl_plain_username"}, ()).value
        'kafka-python'
        >>> client_of({"transactional.id": "transactional_id"}, ["python-app.yaml"]).value
        'kafka-python'
        >>> client_of({"transactional.id": "transactional.id"}, ["python-app.yaml"]).value
        'librdkafka'
        >>> client_of({"transactional.id": "transactionalId"}, ["node.json"]).value
        'KafkaJS'
    """
    text = " ".join(hints)
    if _are_keywords(names):
        around = f"{text} {' '.join(names.values()).lower()}"
        named = next((client for client in PYTHON_CLIENTS if any(word in around for word in _WORDS[client])), None)
        own = {client: sum(name in _only(client) for name in names) for client in PYTHON_CLIENTS}
        if named is not None or _PYTHON in around or any(own.values()):
            return named or max(own, key=lambda client: own[client])
    if not _SERIALIZERS.isdisjoint(names):
        return Client.JAVA
    words = (*_WORDS[Client.LIBRDKAFKA], _PYTHON)
    library = None if "rdkafka" in text else library_of(names.values(), text)
    if library not in (None, Client.OTHER):
        return library
    if not only_librdkafka().isdisjoint(names):
        return Client.LIBRDKAFKA
    if library is not None:
        return library
    if any(word in text for word in words):
        return Client.LIBRDKAFKA
    return Client.JAVA


def _are_keywords(names: Mapping[str, str]) -> bool:
    """Return whether names of more than one word are written as Python writes keyword arguments."""
    keys = [key.rpartition(".")[2] for name, key in names.items() if "." in name or "_" in name]
    return bool(keys) and all("_" in key and key == key.lower() for key in keys)


@cache
def keywords() -> frozenset[str]:
    """Return the keyword arguments that only Python's clients have."""
    return frozenset(name for client in PYTHON_CLIENTS for name in _only(client))


@cache
def _only(client: Client) -> frozenset[str]:
    """Return the keyword arguments that only this client has; those of both Python clients count for each."""
    tables = load_tables()
    others = java_names() | tables[Client.LIBRDKAFKA.value].parameters.keys()
    return frozenset(tables[client.value].parameters) - others - _COMMON_WORDS
