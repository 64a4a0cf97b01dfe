"""EOS-CFG-151."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from eosctl.checks.configuration.clients import is_transactional, transactional_producers, transactional_producers_near
from eosctl.checks.configuration.problem import problem
from eosctl.checks.configuration.topics import Topics, topics_of
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Client, Component, Deployment, Role, Value, folder_of
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence

_BEGINNING: Final = re.compile(r"\^?((?:[\w-]|\\?\.(?![*+]))+)\.[*+]\$?")
"""A pattern of topics that begin alike: ``payments\\..*``."""
_APPLICATIONS: Final = (None, Role.SPRING, Role.FLINK, Role.STREAMS)
_BY_NAMES: Final = (Role.FLINK, Role.STREAMS)
"""Whose readers are related by the names of topics alone: files of several jobs share a folder."""


def _readers(deployment: Deployment) -> Iterator[Component]:
    """Yield the consumers whose default is read_uncommitted; a sink connector has one where it does not override it."""
    for consumer in deployment.of(Role.CONSUMER):
        if consumer.inside in _APPLICATIONS and consumer.value("isolation.level").word == "read_uncommitted":
            yield consumer
    workers = [one for one in deployment.of(Role.CONSUMER) if one.inside is Role.CONNECT_WORKER]
    if any((worker.word("isolation.level") or "") == "read_committed" for worker in workers):
        return
    for sink in deployment.of(Role.SINK_CONNECTOR):
        if not sink.has("consumer.override.isolation.level") and sink.client is Client.JAVA:
            yield sink


def _shown(reader: Component) -> tuple[Value, ...]:
    """Return what stands for a consumer inside the file of a framework: its topic or its group."""
    named = (reader.value(name) for name in ("topic", "group.id")) if reader.inside is not None else ()
    return tuple(value for value in named if value.is_given)[:1]


def _remedy(reader: Component) -> str:
    key = "consumer.override.isolation.level" if reader.role is Role.SINK_CONNECTOR else "isolation.level"
    return f"Set {key}=read_committed, unless it reads no topic of these transactions."


@check(
    "EOS-CFG-151",
    "Consumer of a transactional application reads uncommitted by default",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.CONSUMER, Role.SINK_CONNECTOR),
    reads=("isolation.level",),
    references=("KIP-98",),
)
def reader_of_transactions_by_default(case: Case) -> Iterator[Problem]:
    """Find consumers without isolation.level next to applications that write in transactions.

    What it checks:
        Java consumers that leave isolation.level to its default (read_uncommitted), given together with a
        transactional producer: in the same folder, or with a topic in common, which may stand under keys of the
        applications' own (app.topics.orders), or begin with the topic.prefix of an exactly-once source connector.
        Topics that are known on both sides and differ clear a consumer. A consumer of the transactional application
        itself has a rule of its own. An application that reads, too, and names several topics without saying which of
        them it writes, may only read the topic: this is information for Kafka Streams, where something else writes the
        topic, and where the reader does not say either that it reads it.

    Why it matters for exactly-once:
        Records of aborted transactions are processed as if they were committed.

    Example:
        producer.properties with a transactional.id, and consumer.properties without isolation.level.

    Fix:
        Set isolation.level=read_committed in every consumer of the output.

    Verify:
        eosctl config lint reports it no longer.
    """
    producers = [p for p in transactional_producers(case.deployment) if p.inside in _APPLICATIONS]
    sources = _exactly_once_sources(case.deployment)
    writers = _Writers(_client(case.deployment, one) for one in (*producers, *sources))
    plain = (one for one in case.deployment.of(Role.PRODUCER) if not is_transactional(one))
    others_write = {topic for one in plain if writers.any for topic in topics_of(case.deployment, one).own}
    for reader in _readers(case.deployment) if writers.any else ():
        level = reader.value("isolation.level")
        if level.is_given or transactional_producers_near(case.deployment, reader):
            continue
        read = _client(case.deployment, reader)
        others = [one for one in writers.near(read) if one.component.application != reader.application]
        writer = next((one for one in others if _is_related(one, read)), None)
        is_certain = writer is not None
        writer = writer or next((one for one in others if _may_be_related(one, read)), None)
        if writer is None:
            continue
        place = writer.component.value("transactional.id").place or writer.component.place
        beginning = {topic for topic in read.topics.likely if _begins(topic, writer)}
        named = beginning | (writer.topics.likely & read.topics.likely)
        yield problem(
            reader,
            (level, *_shown(reader)),
            f"isolation.level is not set, and {place} {'writes' if is_certain else 'may write'} in transactions"
            + (f" to {', '.join(sorted(named))}." if named else "."),
            severity=None if is_certain or _is_likely(writer, read, others_write) else Severity.INFO,
            confidence=Confidence.CERTAIN if named else Confidence.LIKELY,
            impact="Records of aborted transactions are read as if they were committed.",
            remedy=_remedy(reader),
        )


def _exactly_once_sources(deployment: Deployment) -> Iterator[Component]:
    """Yield the source connectors whose worker, or who themselves, have exactly-once switched on."""
    workers = deployment.of(Role.CONNECT_WORKER)
    is_enabled = bool(workers) and all(
        (one.word("exactly.once.source.support") or "").lower() == "enabled" for one in workers
    )
    for source in deployment.of(Role.SOURCE_CONNECTOR):
        if is_enabled or (source.word("exactly.once.support") or "").lower() == "required":
            yield source


class _Client(NamedTuple):
    component: Component
    topics: Topics
    folder: str
    prefix: str = ""
    reads: bool = False
    beginning: str = ""


class _Writers:
    """Writers by their topics, their prefixes, and their folders: a reader is not compared with all of them."""

    def __init__(self, writers: Iterable[_Client]) -> None:
        self._all = list(writers)
        self._by_topic: dict[str, list[int]] = {}
        self._by_folder: dict[str, list[int]] = {}
        for number, one in enumerate(self._all):
            for topic in one.topics.own | one.topics.named:
                self._by_topic.setdefault(topic, []).append(number)
            self._by_folder.setdefault(one.folder, []).append(number)
        self._with_prefix = [number for number, one in enumerate(self._all) if one.prefix]

    @property
    def any(self) -> bool:
        """Return whether there is a writer."""
        return bool(self._all)

    def near(self, reader: _Client) -> list[_Client]:
        """Return the writers that have a topic or the folder of a reader, or a prefix, in their order."""
        found = {number for topic in reader.topics.likely for number in self._by_topic.get(topic, ())}
        if reader.component.has("topics.regex"):
            return self._all
        return [self._all[n] for n in sorted(found.union(self._by_folder.get(reader.folder, ()), self._with_prefix))]


def _client(deployment: Deployment, component: Component) -> _Client:
    topics = topics_of(deployment, component)
    prefix = component.word("topic.prefix") or "" if component.role is Role.SOURCE_CONNECTOR else ""
    reads = bool(deployment.same_application(component, Role.CONSUMER))
    match = _BEGINNING.fullmatch(component.word("topics.regex") or "")
    beginning = match[1].replace("\\", "") if match else ""
    return _Client(component, topics, folder_of(component), prefix, reads, beginning)


def _is_related(writer: _Client, reader: _Client) -> bool:
    """Return whether a reader may read from a writer: by a common topic, or else by the folder of their files.

    Kafka Streams names no topic in its settings, and has topics of its own: only names show what it writes. A source
    connector writes to topics that begin with its prefix.
    """
    if any(_begins(topic, writer) for topic in reader.topics.likely) or _is_matched(writer, reader):
        return True
    if writer.component.role is Role.SOURCE_CONNECTOR:
        return not writer.topics.own.isdisjoint(reader.topics.own)
    is_streams = writer.component.inside is Role.STREAMS
    is_alone = not writer.reads or (len(writer.topics.named) == 1 and not is_streams)
    if (writer.topics.own or is_alone) and not writer.topics.likely.isdisjoint(reader.topics.likely):
        return True
    if (writer.topics.own and reader.topics.own) or is_streams:
        return False
    is_named = reader.component.role is Role.SINK_CONNECTOR or reader.component.inside in _BY_NAMES
    return not is_named and writer.folder == reader.folder


def _may_be_related(writer: _Client, reader: _Client) -> bool:
    """Return whether a topic of a reader is among those that an application names for what it reads or writes."""
    return not writer.topics.named.isdisjoint(reader.topics.likely)


def _is_likely(writer: _Client, reader: _Client, others_write: AbstractSet[str]) -> bool:
    """Return whether a reader's own topic has no writer but an application that names it, and may as well read it."""
    return writer.component.inside is not Role.STREAMS and bool(
        (writer.topics.named & reader.topics.own) - others_write
    )


def _is_matched(writer: _Client, reader: _Client) -> bool:
    """Return whether the pattern of a sink's topics.regex, a beginning and anything behind it, covers a topic."""
    return bool(reader.beginning) and any(topic.startswith(reader.beginning) for topic in writer.topics.own)


def _begins(topic: str, writer: _Client) -> bool:
    return bool(writer.prefix) and topic.startswith(writer.prefix)
