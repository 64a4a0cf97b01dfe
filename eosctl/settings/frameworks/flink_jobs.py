"""Flink jobs in an application's own files: sinks, sources, and checkpoints under any keys.

A mapping with a delivery guarantee is a Flink sink, because nothing else has one. A prefix of transactional ids counts
where words around it are Flink's: other applications make their ids of such a prefix, too.
Its settings get the names of the SQL connector (``KafkaConnectorOptions``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.knowledge.parameter_tables import java_names
from eosctl.model.deployment import Place, Role, Value
from eosctl.model.parameter import relaxed
from eosctl.settings.formats.sql_file import SQL_FILES
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row, flatten
from eosctl.settings.frameworks.actor_streams import is_of_actors
from eosctl.settings.names.spellings import setting_meant
from eosctl.settings.values.durations import duration_ms
from eosctl.settings.values.sources import Source, value_of

FLINK_SOURCE: Final = "source of a Flink job"
"""The hint of a source: its client is a consumer, although no option of a scan is written."""
FLINK_PROGRAM: Final = "sink that a Flink job makes"
"""The hint of a sink in a program's arguments: it writes in transactions where one of them is their timeout."""
CDC: Final = "Flink CDC"
"""What shows that a sink or a source is one of a pipeline of Flink CDC."""
_GUARANTEE: Final = "sink.delivery-guarantee"
_PREFIX: Final = "sink.transactional-id-prefix"
_SINK_KEYS: Final = {
    "deliveryguarantee": _GUARANTEE,
    "sinkdeliveryguarantee": _GUARANTEE,
    "transactionalidprefix": _PREFIX,
    "sinktransactionalidprefix": _PREFIX,
}
_GUARANTEE_KEYS: Final = frozenset({"guarantee", "sinkguarantee", "semantic", "sinksemantic", "deliverysemantic"})
"""What programs call the guarantee, and others call other things: the value decides."""
_OF_STREAMS: Final = "processingguarantee"
"""The setting of Kafka Streams; its last word stands in a mapping of its own where a file writes dots as levels."""
_GUARANTEES: Final = frozenset({"exactly-once", "at-least-once"})
_CHECKPOINTS: Final = re.compile(
    r"checkpoint(?:ing|s)?(?:config)?(?P<name>interval|timeout|mode)(?P<unit>ms|millis\w*|s|sec\w*|m|min\w*)?$"
)
_SOURCE: Final = re.compile(r"source|consumer|input", re.IGNORECASE)
_FLINKS: Final = re.compile(r"flink|checkpoint|sink|\bjobs?\b", re.IGNORECASE)
_OPTION_ENDS: Final = ("guarantee", "semantic", "prefix")
_MOST_PARTS: Final = 12
"""More parts than the name of any setting or option has."""
_TIMEOUT: Final = "transaction.timeout.ms"
_TIMEOUTS: Final = ("transactiontimeout", "transactiontimeoutms")


class _Found(NamedTuple):
    """A mapping, with the name of its file and the keys above it, and what its own keys begin with in the file."""

    path: tuple[str, ...]
    node: Branch
    prefix: str = ""


def flink_jobs(document: Node, file: str) -> list[Source] | None:
    """Return the sinks, sources, and checkpoints of Flink jobs; None when the document describes none."""
    if not isinstance(document, Branch) or file.lower().endswith(SQL_FILES) or _is_flat(document):
        return None  # Flink's own spelling, which needs no translation
    if (pipeline := _cdc_pipeline(document, file)) is not None:
        return pipeline
    in_properties = _prefixed_sinks(document, file)
    sinks = in_properties or list(_sinks(document, (file,)))
    if not sinks or (not any(_is_flinks(one) for one in sinks) and not _has_flinks_words(document)):
        return None
    if is_of_actors(document) and all(_GUARANTEE not in _options(one.node) for one in sinks):
        return None
    inside = {id(found.node) for found in sinks}
    sources = _prefixed_sources(document, file, sinks) if in_properties else _sources(document, (file,), inside)
    found = [_sink(one, file) for one in sinks]
    if in_properties and len(found) == 1:
        found = [_with_timeout(found[0], document, file)]
    found += [_source(one, file) for one in sources]
    cluster = _checkpoints(document, file)
    return [*found, cluster] if cluster is not None else found


def _with_timeout(sink: Source, document: Branch, file: str) -> Source:
    """Return the one sink of a file without mappings with the timeout of transactions under another beginning."""
    name = f"properties.{_TIMEOUT}"
    named = ((key, leaf) for one, key, leaf in _settings(document) if one == _TIMEOUT and not _SOURCE.search(key))
    key, leaf = next(named, ("", None))
    if leaf is None or name in sink.values:
        return sink
    milliseconds = duration_ms(leaf.text)
    text = leaf.text if milliseconds is None else str(milliseconds)
    return replace(sink, values={**sink.values, name: value_of(key, replace(leaf, text=text), file, name)})


def sink_of_program(document: Branch, file: str) -> list[Source]:
    """Return what flat arguments of a job configure whose program itself makes its sink.

    The sink is one of Kafka that writes in transactions where an argument is their timeout.
    """
    parts: dict[bool, list[tuple[str, Node]]] = {True: [], False: []}
    for key, child in document.entries:
        parts[_SOURCE.search(key) is not None].append((key, child))
    sink, source = (_Found((file, "arguments"), Branch(tuple(parts[one]), document.line)) for one in (False, True))
    found: list[Source] = []
    if any(name == _TIMEOUT for name, _, _ in _settings(sink.node)):
        found.append(_as_source(sink, {}, file, FLINK_PROGRAM))
        # What no argument gives a source, the program may give it.
        is_decided = any(name == "isolation.level" for name, _, _ in _settings(source.node))
        found += [_source(source, file)] if is_decided else []
    checkpoints = _checkpoints(document, file)
    return found if checkpoints is None else [*found, checkpoints]


def _cdc_pipeline(document: Branch, file: str) -> list[Source] | None:
    """Return Kafka's ends of a pipeline of Flink CDC, whose options stand as the connectors spell them."""
    ends = [(name, node) for name in ("source", "sink") if (node := document.branch(name)) is not None]
    if len(ends) < 2 or not all(node.text("type") for _, node in ends):
        return None
    found = [
        Source(
            Place(file, node.line),
            {key: value_of(key, leaf, file) for key, leaf in flatten(node)},
            name,
            Role.FLINK,
            hints=(FLINK_SOURCE,) if name == "source" else (name,),
            recognized_by=f"{name} of {CDC}",
        )
        for name, node in ends
        if node.text("type") == "kafka"
    ]
    return found or None


def _is_flat(node: Branch) -> bool:
    return all(isinstance(child, Leaf) for _, child in node.entries) and node.get(_GUARANTEE) is not None


def _prefixed_sinks(document: Branch, file: str) -> list[_Found]:
    """Return the sinks of a file without mappings: keys with one beginning, as in ``sink.delivery.guarantee``."""
    if not all(isinstance(child, Leaf) for _, child in document.entries):
        return []
    begins = dict.fromkeys(begin for key, _ in document.entries if (begin := _before_option(key)))
    found = (_under(begin, document, file) for begin in begins)
    return [
        one for one in found if (own := _options(one.node)) and (_PREFIX in own or _mentions_kafka(one.node, one.path))
    ]


def _before_option(key: str) -> str:
    """Return what stands before an option of sinks in a key with dots; empty where the key is the option.

    >>> _before_option("job.sink.transactional-id.prefix"), _before_option("delivery.guarantee")
    ('job.sink.', '')
    """
    if not key.lower().endswith(_OPTION_ENDS):
        return ""
    if relaxed(key).endswith(_OF_STREAMS):
        return ""
    parts = key.split(".")
    lengths = range(len(parts) - 1, max(0, len(parts) - _MOST_PARTS), -1)
    known = _SINK_KEYS.keys() | _GUARANTEE_KEYS
    options = (first for first in lengths if relaxed(".".join(parts[first:])) in known)
    first = next(options, 0)
    return ".".join(parts[:first]) + "." if first else ""


def _prefixed_sources(document: Branch, file: str, sinks: list[_Found]) -> list[_Found]:
    """Return the sources of a file without mappings: keys whose beginning names a source, and that hold settings."""
    taken = tuple(sink.prefix for sink in sinks)
    free = (key.split(".") for key, _ in document.entries if not key.startswith(taken))
    named = ((parts, next((n for n, part in enumerate(parts[:-1], 1) if _SOURCE.search(part)), 0)) for parts in free)
    begins = dict.fromkeys(".".join(parts[:length]) + "." for parts, length in named if length)
    return [found for begin in begins if _settings((found := _under(begin, document, file)).node)]


def _under(begin: str, document: Branch, file: str) -> _Found:
    own = tuple((key[len(begin) :], child) for key, child in document.entries if key.startswith(begin))
    return _Found((file, *begin.rstrip(".").split(".")), Branch(own, own[0][1].line), begin)


def _sinks(node: Node, path: tuple[str, ...]) -> Iterator[_Found]:
    if isinstance(node, Row):
        for member in node.nodes:
            yield from _sinks(member, path)
    if not isinstance(node, Branch):
        return
    own = set() if relaxed(path[-1]) == "processing" else _options(node)
    if own and (_PREFIX in own or _mentions_kafka(node, path)):
        yield _Found(path, node)
        return
    for key, child in node.entries:
        if not isinstance(child, Leaf):
            yield from _sinks(child, (*path, key))


def _options(node: Branch) -> set[str]:
    leaves = ((key, child) for key, child in node.entries if isinstance(child, Leaf))
    return {option for key, leaf in leaves if (option := _option(key, leaf))}


def _option(key: str, node: Node) -> str | None:
    """Return the option of the SQL connector that a key of a sink stands for."""
    name, text = relaxed(key), node.text if isinstance(node, Leaf) else None
    if name in _GUARANTEE_KEYS and (text or "").lower().replace("_", "-") in _GUARANTEES:
        return _GUARANTEE
    return _SINK_KEYS.get(name)


def _is_flinks(sink: _Found) -> bool:
    """Return whether a mapping is a Flink sink by its own keys, or by what it stands under."""
    options = {_option(key, child) for key, child in sink.node.entries}
    return (
        _GUARANTEE in options or _PREFIX in dict(sink.node.entries) or _FLINKS.search(" ".join(sink.path)) is not None
    )


def _has_flinks_words(document: Branch) -> bool:
    return any(_FLINKS.search(f"{key} {leaf.text or ''}") for key, leaf in flatten(document))


def _mentions_kafka(node: Branch, path: tuple[str, ...]) -> bool:
    """Return whether a mapping is about Kafka: other systems have delivery guarantees, too."""
    words = " ".join((*path, *(f"{key} {leaf.text}" for key, leaf in flatten(node)))).lower()
    return "kafka" in words or bool(_settings(node))


def _sources(node: Node, path: tuple[str, ...], sinks: set[int]) -> Iterator[_Found]:
    """Yield the mappings under a key that names sources, or consumers, and hold settings of a consumer."""
    if isinstance(node, Row):
        for member in node.nodes:
            yield from _sources(member, path, sinks)
    if not isinstance(node, Branch) or id(node) in sinks:
        return
    is_source = any(_SOURCE.search(key) for key in path[1:])
    if is_source and any(isinstance(child, Leaf) for _, child in node.entries) and _settings(node):
        yield _Found(path, node)
        return
    for key, child in node.entries:
        if not isinstance(child, Leaf):
            yield from _sources(child, (*path, key), sinks)


def _settings(node: Branch) -> list[tuple[str, str, Leaf]]:
    """Return Kafka's settings within a mapping: name, key as it stands there, and value."""
    found = ((_setting(key), key, leaf) for key, leaf in flatten(node))
    return [(name, key, leaf) for name, key, leaf in found if name is not None]


def _setting(key: str) -> str | None:
    """Return the setting of Kafka that a key ends in; the mappings around it have any name."""
    parts = key.split(".")
    for first in range(max(0, len(parts) - _MOST_PARTS), len(parts)):
        name = ".".join(parts[first:])
        if name in java_names() and ("." in name or name == "acks"):
            return name
        if (meant := setting_meant(name)) is not None:
            return meant
    return _TIMEOUT if relaxed(parts[-1]) in _TIMEOUTS else None


def _sink(found: _Found, file: str) -> Source:
    values: dict[str, Value] = {}
    for key, leaf in flatten(found.node):
        option = _option(key, leaf)
        if option == _GUARANTEE and not key.endswith(_GUARANTEE):
            leaf = replace(leaf, text=(leaf.text or "").lower().replace("_", "-"))
        if option is not None or key in ("topic", "connector"):
            values[option or key] = value_of(found.prefix + key, leaf, file, option or key)
    return _as_source(found, values, file, "sink")


def _source(found: _Found, file: str) -> Source:
    return _as_source(found, {}, file, FLINK_SOURCE)


def _as_source(found: _Found, values: dict[str, Value], file: str, hint: str) -> Source:
    for name, key, leaf in _settings(found.node):
        is_duration = name.endswith(".ms") and (milliseconds := duration_ms(leaf.text)) is not None
        text = str(milliseconds) if is_duration else leaf.text
        values[f"properties.{name}"] = value_of(
            found.prefix + key, replace(leaf, text=text), file, f"properties.{name}"
        )
    shown = next((values[name] for name in (_GUARANTEE, _PREFIX) if name in values), next(iter(values.values()))).key
    return Source(
        Place(file, found.node.line),
        values,
        ".".join(found.path[1:]),
        Role.FLINK,
        hints=(hint,),
        recognized_by=shown,
    )


def _checkpoints(document: Branch, file: str) -> Source | None:
    """Return the file's checkpoint settings from any mapping, with the names of Flink's own options."""
    values: dict[str, Value] = {}
    for key, leaf in flatten(document):
        match = _CHECKPOINTS.search(relaxed(key))
        if match is None or leaf.text is None:
            continue
        name = f"execution.checkpointing.{match['name']}"
        unit = match["unit"] or ""
        text = f"{leaf.text}{unit}" if unit and leaf.text.isdecimal() else leaf.text
        values.setdefault(name, value_of(key, replace(leaf, text=text), file, name))
    if not values:
        return None
    first = min(value.place for value in values.values() if value.place)
    return Source(first, values, "checkpoints", Role.FLINK, recognized_by=next(iter(values.values())).key)
