"""Configurations as they stand in files: keys and values of one thing, before roles and defaults."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

import msgspec

from eosctl.model.deployment import Client, Place, Role, Value
from eosctl.model.parameter import Release
from eosctl.settings.formats.tree import Leaf

_ELSEWHERE: Final = re.compile(
    r"\$\{|\$\(|%\{|\{\{|<%|%\(|%[iIjnHm](?![\w%])|^@[\w.-]+@$|^<+[^<>]+>+$|^\$\w+$"
    # What Python's str.format, and printf in programs, fill.
    r"|\{[A-Za-z_]\w*\}|(?<![%\w])%(?:\d\$)?[sdv](?![\w%])"
    # What the start scripts of images replace.
    r"|^#\w+#$|^__\w+__$"
)
_NODE_IDS: Final = ("node.id", "node_id", "broker.id", "broker_id")
_REPLACED: Final = re.compile(r"[A-Z]+(?:_[A-Z]+)*")
"""A word in the place of a number: no broker starts with it, so a script replaces it."""


class Releases(NamedTuple):
    """The chosen releases; None without a choice. ``clients`` covers Java's, including Streams and Connect."""

    kafka: Release | None = None
    clients: Release | None = None
    librdkafka: Release | None = None


class Source(msgspec.Struct, frozen=True):
    """The settings of one thing in a file.

    Attributes:
        place: Where it begins.
        values: By the key as its component spells it, prefixes included.
        label: Its name within the file: a service, a resource, a connector; empty when it is the whole file.
        role: What it is, when its surroundings say so.
        client: Whose client, when its surroundings say so.
        version: The Kafka release that the surroundings name (an image tag, ``spec.kafka.version``), or empty.
        library_release: The release of the client library that its project pins; None where it pins none.
        application: What it is a part of within the file; its label when None.
        framework: Defaults that a framework sets over the client's own, where there is no role for it.
        cluster: The cluster that it configures as a whole, where one thing stands for all its brokers; else empty.
        hints: Words of the surroundings that identify the role: keys above it, the file's name.
        recognized_by: What shows the role: a key as it stands in the file, or a name of the surroundings; empty where
            no single thing does.
        part_of: The workload whose container has it as environment: ``Deployment settlement``; else empty.
        held_by: The resource that holds it: ``ConfigMap settlement``; empty where that is the file itself.
        instances: How many processes run with it; None where nothing shows that.
        described_by: The file that describes its cluster as a whole, as a Compose file does; empty where several files
            of a folder may be parts of one.
        others: What else it may be, where no key decides; it is judged as each of them.
        environment: The file of the one environment that it holds for; empty if it holds for any.
        secrets: The names of the Secrets that its workload reads.
        unread: Settings of Kafka next to its own that it does not receive, under the keys that would hand them to it.
        topics: Names of topics under keys of the application's own.
    """

    place: Place
    values: Mapping[str, Value]
    label: str = ""
    role: Role | None = None
    client: Client | None = None
    version: str = ""
    library_release: Release | None = None
    hints: tuple[str, ...] = ()
    application: str | None = None
    framework: Mapping[str, str | None] = msgspec.field(default_factory=dict)
    cluster: str = ""
    recognized_by: str = ""
    part_of: str = ""
    held_by: str = ""
    instances: Value | None = None
    described_by: str = ""
    others: tuple[Role, ...] = ()
    environment: str = ""
    secrets: frozenset[str] = frozenset()
    unread: tuple[Value, ...] = ()
    topics: tuple[Value, ...] = ()


def value_of(key: str, leaf: Leaf, file: str, name: str = "") -> Value:
    """Return a leaf as a value; what refers to something outside of the file, or has no value, is not resolved."""
    unresolved = leaf.text is None or (
        _ELSEWHERE.search(leaf.text.strip()) is not None
        or (key.lower().endswith(_NODE_IDS) and _REPLACED.fullmatch(leaf.text.strip()) is not None)
    )
    place = Place(leaf.file or file, leaf.line)
    return Value(name or key, leaf.text, _as_written(key, leaf), place, resolved=not unresolved, words=leaf.words)


def _as_written(key: str, leaf: Leaf) -> str:
    """Return a key with the end that it has in the file.

    >>> _as_written("kafka.producer.acks", Leaf("1", 1, written="send.acks"))
    'kafka.send.acks'
    """
    if not leaf.written:
        return key
    kept = key.split(".")[: -leaf.written.count(".") - 1]
    return ".".join((*kept, leaf.written))


def values_of(pairs: Iterable[tuple[str, Leaf]], file: str) -> dict[str, Value]:
    """Return values by key; of equal keys the last one counts."""
    return {key: value_of(key, leaf, file) for key, leaf in pairs}
