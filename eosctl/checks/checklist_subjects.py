"""What the items of checklists are about: a check that saw none of it has shown nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from eosctl.analysis.mirror_flows import LEVEL, Flow, flows_of, mirrors
from eosctl.checks.configuration.clients import transactional_producers
from eosctl.model.deployment import Component, Deployment, Role
from eosctl.model.snapshot import ClusterSnapshot

_CLIENTS: Final = (Role.PRODUCER, Role.CONSUMER, Role.STREAMS)
_LISTENERS: Final = ("listeners", "advertised.listeners", "listener.security.protocol.map")
_CONNECT: Final = (Role.CONNECT_WORKER, Role.SOURCE_CONNECTOR, Role.SINK_CONNECTOR)


class Seen(NamedTuple):
    """The input of a run: a cluster's snapshot, where there is one, and configuration files.

    ``not_judged`` names files about Kafka that were not understood, and configurations that are not among the files.
    """

    snapshot: ClusterSnapshot | None
    deployment: Deployment
    not_judged: tuple[str, ...] = ()


def _roles(*roles: Role) -> Callable[[Seen], Iterable[str]]:
    def named(seen: Seen) -> Iterable[str]:
        return _names(seen.deployment.of(*roles))

    return named


def _names(components: Iterable[Component]) -> Iterable[str]:
    return (component.name for component in components)


def _brokers(seen: Seen) -> Iterable[str]:
    running = () if seen.snapshot is None else seen.snapshot.brokers
    return (
        *(f"broker {broker.node_id}" for broker in running if broker.reachable),
        *_names(seen.deployment.of(Role.BROKER)),
    )


def _topics(seen: Seen) -> Iterable[str]:
    return () if seen.snapshot is None else (topic.name for topic in seen.snapshot.topics)


def _topic(name: str) -> Callable[[Seen], Iterable[str]]:
    def named(seen: Seen) -> Iterable[str]:
        return (one for one in _topics(seen) if one == name)

    return named


def _transactional_topics(seen: Seen) -> Iterable[str]:
    """A coordinator's epoch stands with a producer once a transaction of it has ended in the partition."""
    if seen.snapshot is None:
        return ()
    internal = {topic.name for topic in seen.snapshot.topics if topic.internal}
    return (
        where.partition.topic
        for where in seen.snapshot.producers
        if where.partition.topic not in internal
        and any(one.current_txn_start_offset is not None or one.coordinator_epoch >= 0 for one in where.producers)
    )


def _coordinators(seen: Seen) -> Iterable[str]:
    """Every running broker coordinates transactions and was asked for them."""
    if seen.snapshot is None or not seen.snapshot.looks:
        return ()
    return (f"broker {broker.node_id}" for broker in seen.snapshot.brokers if broker.reachable)


def _controllers(seen: Seen) -> Iterable[str]:
    quorum = None if seen.snapshot is None else seen.snapshot.quorum
    return () if quorum is None else (f"controller {voter}" for voter in quorum.voters)


def _access_rules(seen: Seen) -> Iterable[str]:
    rules = None if seen.snapshot is None else seen.snapshot.access_rules
    return () if rules is None else (f"{rule.resource_type} {rule.resource_name}" for rule in rules.rules)


def _transactional_producers(seen: Seen) -> Iterable[str]:
    applications = transactional_producers(seen.deployment)
    running = () if seen.snapshot is None else seen.snapshot.transactions
    return *(one.transactional_id for one in running), *_names(applications)


def _producers_to_compare(seen: Seen) -> Iterable[str]:
    """One configuration cannot show that no other producer has its id: a second one or a cluster can."""
    names = tuple(_transactional_producers(seen))
    return names if any(_coordinators(seen)) or len(set(names)) > 1 else ()


def _uncounted_producers(seen: Seen) -> Iterable[str]:
    """Yield the producers with an id of their own whose number of processes no file names, where no cluster shows them.

    Kafka Streams and Flink make the ids of their processes themselves.
    """
    if any(_coordinators(seen)):
        return ()
    producers = seen.deployment.of(Role.PRODUCER)
    return _names(one for one in producers if one.word("transactional.id") and one.instances is None)


def _unnamed_releases(seen: Seen) -> Iterable[str]:
    """Yield the Streams applications whose release is not named, so that the newest one was assumed."""
    return _names(one for one in seen.deployment.of(Role.STREAMS) if not one.release_named)


def _transaction_timeouts(seen: Seen) -> Iterable[str]:
    """Timeouts of transactions that are known: those of running ones, and of producers as configured or by default."""
    producers = (
        component
        for component in seen.deployment.of(Role.PRODUCER)
        if (component.inside is Role.FLINK or component.value("transactional.id").text)
        and component.value("transaction.timeout.ms").number is not None
    )
    running = () if seen.snapshot is None else seen.snapshot.transactions
    return *(one.transactional_id for one in running), *_names(producers)


def _consumers(seen: Seen) -> Iterable[str]:
    """Consumers inside Streams read the input of the application, not its output."""
    return _names(one for one in seen.deployment.of(Role.CONSUMER) if one.inside is not Role.STREAMS)


def _uncommitted_readers(seen: Seen) -> Iterable[str]:
    """Yield the consumers that do not read committed records, or that no file shows to do so.

    Streams sets it for its own. A sink connector reads as its worker does unless it overrides that; a worker reads for
    connectors that are not in the input, unless those that are in it are sources alone.
    """
    deployment = seen.deployment
    readers = [one for one in deployment.of(Role.CONSUMER) if one.inside is not Role.STREAMS]
    workers = [one for one in readers if one.inside is Role.CONNECT_WORKER]
    own = [one for one in readers if one.inside is not Role.CONNECT_WORKER]
    reads = {one.application for one in own}
    sinks = [one for one in deployment.of(Role.SINK_CONNECTOR) if one.application not in reads]
    if not workers or not all(map(_reads_committed, workers)):
        own += sinks
    if not deployment.of(Role.SOURCE_CONNECTOR, Role.SINK_CONNECTOR):
        own += workers
    return _names(one for one in own if not _reads_committed(one))


def _reads_committed(component: Component) -> bool:
    is_reader = component.role is Role.CONSUMER
    return is_reader and (component.word("isolation.level") or "").lower() == "read_committed"


def _broker_releases(seen: Seen) -> Iterable[str]:
    """Yield the brokers that run, and those whose files or images name their release."""
    running = () if seen.snapshot is None else seen.snapshot.brokers
    return (
        *(f"broker {broker.node_id}" for broker in running if broker.reachable),
        *_names(one for one in seen.deployment.of(Role.BROKER) if one.release_named),
    )


def _encrypted(seen: Seen) -> Iterable[str]:
    brokers = seen.deployment.of(Role.BROKER)
    named = (one for one in brokers if any("SSL" in (one.value(name).text or "").upper() for name in _LISTENERS))
    return (*_names(one for one in seen.deployment.of(*_CLIENTS) if _has_tls(one)), *_names(named))


def _unencrypted(seen: Seen) -> Iterable[str]:
    return _names(one for one in seen.deployment.of(*_CLIENTS) if not _has_tls(one))


def _has_tls(client: Component) -> bool:
    return (client.word("security.protocol") or "").upper() in ("SSL", "SASL_SSL")


def _mirrors(seen: Seen) -> Iterable[str]:
    """Yield MirrorMaker's files and connectors; other source connectors copy no topics."""
    return _names(mirrors(seen.deployment))


def _uncommitted_mirrors(seen: Seen) -> Iterable[str]:
    """Yield the mirrors with a flow whose consumer no file shows to read committed records."""
    return _names(one for one in mirrors(seen.deployment) if not all(map(_copies_committed, flows_of(one))))


def _copies_committed(flow: Flow) -> bool:
    level = flow.source_consumer(LEVEL)
    return level is not None and (level.word or "").lower() == "read_committed"


class Subject(NamedTuple):
    """A kind of subject: one of it in words, and where the input holds it."""

    word: str
    find: Callable[[Seen], Iterable[str]]


SUBJECTS: Final[Mapping[str, Subject]] = {
    "brokers": Subject("broker", _brokers),
    "topics": Subject("topic", _topics),
    "transaction-log": Subject("transaction log", _topic("__transaction_state")),
    "offsets-topic": Subject("offsets topic", _topic("__consumer_offsets")),
    "transactional-topics": Subject("topic with transactions", _transactional_topics),
    "coordinators": Subject("transaction coordinator", _coordinators),
    "controllers": Subject("controller", _controllers),
    "access-rules": Subject("access rule", _access_rules),
    "transactional-producers": Subject("transactional producer", _transactional_producers),
    "producers-to-compare": Subject("second transactional producer or cluster", _producers_to_compare),
    "uncounted-producers": Subject("producer with an unknown number of processes", _uncounted_producers),
    "unnamed-releases": Subject("application without a named release", _unnamed_releases),
    "transaction-timeouts": Subject("known transaction timeout", _transaction_timeouts),
    "producers": Subject("producer", _roles(Role.PRODUCER)),
    "consumers": Subject("consumer", _consumers),
    "uncommitted-readers": Subject("consumer without isolation.level=read_committed", _uncommitted_readers),
    "readers": Subject("consumer", _roles(Role.CONSUMER)),
    "streams": Subject("Streams application", _roles(Role.STREAMS)),
    "streams-or-connectors": Subject("Streams application or connector", _roles(Role.STREAMS, *_CONNECT)),
    "spring-or-connectors": Subject("Spring application or connector", _roles(Role.SPRING, *_CONNECT)),
    "mirror-makers": Subject("MirrorMaker", _mirrors),
    "uncommitted-mirrors": Subject("MirrorMaker without isolation.level=read_committed", _uncommitted_mirrors),
    "broker-releases": Subject("broker of a known release", _broker_releases),
    "encrypted-connections": Subject("connection with TLS", _encrypted),
    "unencrypted-clients": Subject("client without TLS", _unencrypted),
    "configurations": Subject("configuration", _roles(*Role)),
}
"""Where the subjects of each kind are in the input, by the names that checklists use."""
