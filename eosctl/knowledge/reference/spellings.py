"""Other spellings of names: error codes as clients prefix them, settings as constants, variables, and with prefixes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from eosctl.model.reference import EntryKind

_QUALIFIED: Final = re.compile(r"(?:[\w$]+(?:\.|::))*(?P<name>\w+)")
_NODE: Final = re.compile(r"(?:RD_KAFKA_RESP_)?ERR_(?P<name>_?[A-Z][A-Z0-9_]+)")
_DOTNET: Final = re.compile(r"Local_(?P<name>[A-Z]\w+)")
_GO: Final = re.compile(r"Err(?P<name>[A-Z]\w+)")
_RUST: Final = re.compile(r"RDKafkaErrorCode::(?P<name>[A-Z]\w+)")
_REDPANDA: Final = re.compile(r"(?:\w+::)?tx(?:_|::)errc::(?P<name>\w+)")
_CONSTANT: Final = re.compile(r"(?P<name>[A-Z][A-Z0-9_]+)_CONFIG")
_VARIABLE: Final = re.compile(
    r"(?:KAFKA_(?:CONNECT_)?CFG_|KAFKA_|CONNECT_|KSQL_(?:KSQL_STREAMS_)?)(?P<name>(?:PRODUCER_|CONSUMER_)?[A-Z0-9_]+)"
)
_CLIENT_VARIABLE: Final = re.compile(r"(?:PRODUCER|CONSUMER)_(?P<name>[A-Z0-9_]+)")
_DOTTED: Final = re.compile(r"[\w\[\]-]+(?:\.[\w\[\]-]+){2,}")
_FRAMEWORK: Final = re.compile(r"(?i)[\w.-]*(?:kafka|messaging|producer|consumer)")
_ERRORS: Final = frozenset({EntryKind.ERROR})
_SETTINGS: Final = frozenset({EntryKind.SETTING})


class Spelling(NamedTuple):
    """A name that a word may stand for, and the kinds of entries that it then names."""

    name: str
    kinds: frozenset[EntryKind]


def other_spellings(word: str) -> Iterator[Spelling]:
    """Yield the names that a word stands for in a client, a program, a container, or a framework, the likeliest first.

    >>> [one.name for one in other_spellings("CODES.ERRORS.ERR__FENCED")]
    ['_FENCED']
    >>> [one.name for one in other_spellings("ProducerConfig.MAX_BLOCK_MS_CONFIG")]
    ['MAX_BLOCK_MS_CONFIG', 'MAX_BLOCK_MS']
    >>> [one.name for one in other_spellings("producer.override.transaction.timeout.ms")]
    ['override.transaction.timeout.ms', 'transaction.timeout.ms', 'timeout.ms']
    """
    if redpanda := _REDPANDA.fullmatch(word):
        yield Spelling(f"tx::errc::{redpanda['name']}", _ERRORS)
        yield Spelling(redpanda["name"], _ERRORS)
    if rust := _RUST.fullmatch(word):
        yield Spelling(rust["name"], _ERRORS)
        yield Spelling(_upper(rust["name"]), _ERRORS)
    if qualified := _QUALIFIED.fullmatch(word):
        yield from _of_errors(qualified["name"])
        yield from _of_settings(qualified["name"])
    if _DOTTED.fullmatch(word):
        # A framework puts its own names before Kafka's: the longest ending that is a setting counts.
        parts = word.split(".")
        shortest = 0 if _FRAMEWORK.match(word) else 1
        yield from (Spelling(".".join(parts[at:]), _SETTINGS) for at in range(1, len(parts) - shortest))


def _of_errors(name: str) -> Iterator[Spelling]:
    if node := _NODE.fullmatch(name):
        yield Spelling(node["name"], _ERRORS)
    elif local := _DOTNET.fullmatch(name):
        yield Spelling(_upper(local["name"]), _ERRORS)
    elif go := _GO.fullmatch(name):
        # confluent-kafka-go names the broker's errors and its own alike; the broker's go first.
        yield Spelling(go["name"], _ERRORS)
        yield Spelling(_upper(go["name"]), _ERRORS)


def _of_settings(name: str) -> Iterator[Spelling]:
    if constant := _CONSTANT.fullmatch(name):
        yield Spelling(name, _SETTINGS)
        yield Spelling(constant["name"], _SETTINGS)
    if variable := _VARIABLE.fullmatch(name):
        yield Spelling(variable["name"], _SETTINGS)
        if client := _CLIENT_VARIABLE.fullmatch(variable["name"]):
            yield Spelling(client["name"], _SETTINGS)


def _upper(name: str) -> str:
    """Return librdkafka's name of one of its own errors."""
    return "_" + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()
