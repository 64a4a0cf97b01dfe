"""Which brokers form a cluster, and how many there are."""

from __future__ import annotations

import re
from itertools import chain
from typing import Final

from eosctl.model.deployment import JOINED_BY, Client, Component, Deployment, Role, Value, ValueSource

OF_INTERNAL_TOPICS: Final = (
    "transaction.state.log.replication.factor",
    "transaction.state.log.min.isr",
    "offsets.topic.replication.factor",
)
_REACHED: Final = (*JOINED_BY[:2], "zookeeper.connect")
_ON_LOCAL_HOST: Final = re.compile(r"(?:\d+@)?(?:localhost|127(?:\.\d+){3}|\[?::1\]?):\d+(?:/\S*)?")
_LOCAL_LISTENER: Final = re.compile(r"//(?:localhost|127(?:\.\d+){3}|\[::1\]):")
_LISTENERS: Final = ("listeners", "advertised.listeners")
_HOST: Final = re.compile(r"//([^:/,\s]+)(?::|,|$)")
_ANY_HOST: Final = re.compile(r"[0.]+|127[.\d]*|localhost")


def hosts_of(broker: Component) -> frozenset[str]:
    """Return the hosts that a broker's listeners name; wildcards and the local host name none."""
    texts = (broker.word(name) or "" for name in _LISTENERS if broker.has(name))
    hosts = frozenset(host for text in texts for host in _HOST.findall(text))
    return frozenset(host for host in hosts if _ANY_HOST.fullmatch(host) is None)


def is_only_broker(deployment: Deployment, broker: Component) -> bool:
    """Return whether the platform starts this broker alone; False where nothing shows how many there are."""
    # What the broker itself shows is decided first: the others are many.
    if broker.instances is None or broker.instances.number != 1 or not is_broker(broker):
        return False
    near = deployment.same_cluster(broker)
    others = [other for other in near if other is not broker and not is_same_workload(broker, other)]
    # Controllers of their own next to the broker show the rest of the cluster.
    return (_is_complete(broker) or bool(others)) and not any(map(is_broker, others))


def wants_more_brokers(deployment: Deployment, broker: Component) -> tuple[Value, ...]:
    """Return the settings of internal topics that need more brokers than the cluster has.

    A file that stands alone shows one broker if no other machine can reach its quorum or its listeners.
    """
    count = number_of_brokers(deployment, broker)
    values = (broker.value(name) for name in OF_INTERNAL_TOPICS if count)
    return tuple(value for value in values if value.number is not None and value.number > count)


def comes_with_image(deployment: Deployment, broker: Component, value: Value) -> bool:
    """Return whether an image's own file has a value that several brokers run with; for the first of them alone."""
    if value.source is not ValueSource.FRAMEWORK or value.number is None:
        return False
    brokers = [one for one in deployment.same_cluster(broker) if is_broker(one)]
    return len(brokers) > 1 and next(one for one in brokers if not one.has(value.name)) is broker


def number_of_brokers(deployment: Deployment, broker: Component) -> int:
    """Return how many brokers a cluster has: one that is alone, or those of a platform's resource; 0 if unknown."""
    if is_only_broker(deployment, broker) or _is_on_its_own(deployment, broker):
        return 1
    is_whole = bool(broker.cluster) and broker.instances is not None and is_broker(broker)
    return (broker.instances.number or 0) if is_whole and broker.instances is not None else 0


def _is_on_its_own(deployment: Deployment, broker: Component) -> bool:
    """Return whether a broker listens, and finds its quorum or ZooKeeper, on the local host alone."""
    if not is_broker(broker) or len(deployment.same_cluster(broker)) > 1 or hosts_of(broker):
        return False
    reached = next((broker.value(name) for name in _REACHED if broker.has(name)), None)
    shown = [broker.value(name) for name in _LISTENERS if broker.has(name)]
    if reached is None or not all(value.resolved for value in (reached, *shown)):
        return False
    is_local = all(_ON_LOCAL_HOST.fullmatch(one.strip()) for one in (reached.word or "").split(","))
    # Without a host of its own, a broker of ZooKeeper advertises the machine's name.
    is_found = reached.name != _REACHED[-1] or any(_LOCAL_LISTENER.search(value.word or "") for value in shown)
    return is_local and is_found


def runs_on_one_broker(deployment: Deployment, client: Component) -> bool:
    """Return whether every broker in a worker's file, or else in its folder, is a cluster of its own."""
    near = deployment.brokers_near(client)
    own = [one for one in near if one.place.file == client.place.file and is_broker(one)]
    brokers = iter(own or filter(is_broker, near))  # the first one decides in most folders
    first = next(brokers, None)
    return first is not None and all(is_only_broker(deployment, broker) for broker in chain((first,), brokers))


def known_number(deployment: Deployment) -> int:
    """Return how many brokers the only cluster of a deployment has; 0 where nothing shows that, or there are several.

    A platform counts what stands for all brokers; files of brokers one by one may be a part of them.
    """
    wholes = [one for one in deployment.of(Role.BROKER) if is_broker(one) and one.cluster and one.instances]
    counts = {one.instances.number or 0 for one in wholes if one.instances is not None}
    return counts.pop() if len(counts) == 1 and len(wholes) == len(deployment.of(Role.BROKER)) else 0


def is_broker(server: Component) -> bool:
    """Return whether a server holds topics; a controller alone does not."""
    roles = server.word("process.roles") if server.has("process.roles") else None
    return roles is None or "broker" in {role.strip() for role in roles.split(",")}


def is_same_workload(one: Component, other: Component) -> bool:
    """Return whether two servers are one resource of a platform, which several files declare: the last one counts."""
    names = {(*component.application.split("\0"), "")[1] for component in (one, other)}
    return len(names) == 1 and names != {""} and one.cluster == other.cluster


def are_alternatives(one: Component, other: Component) -> bool:
    """Return whether two files are two ways to start one server.

    Kafka ships controller.properties and server.properties so, in one folder, for the only controller. Two brokers with
    the same listeners whose ZooKeeper or quorum is on the local host run on one machine, one of them at a time.
    """
    if _run_on_one_port(one, other):
        return True
    roles = {
        frozenset(part.strip() for part in (server.word("process.roles") or "").split(",")) for server in (one, other)
    }
    quorums = [server.word(name) or "" for server in (one, other) for name in JOINED_BY[:2]]
    return roles == {frozenset({"controller"}), frozenset({"broker", "controller"})} and not any(
        "," in q for q in quorums
    )


def _run_on_one_port(one: Component, other: Component) -> bool:
    """Return whether two files start brokers of one machine that listen on the same ports."""
    listeners = {server.word("listeners") if server.has("listeners") else None for server in (one, other)}
    reached = [next((server.word(name) for name in _REACHED if server.has(name)), None) for server in (one, other)]
    are_files = not (one.described_by or other.described_by)
    are_local = all(
        text is not None and all(_ON_LOCAL_HOST.fullmatch(part.strip()) for part in text.split(",")) for text in reached
    )
    return are_files and are_local and len(listeners) == 1 and None not in listeners


def _is_complete(broker: Component) -> bool:
    """Return whether a broker's settings show the whole cluster: the only controller, or an operator's resource.

    Each broker of Redpanda is a controller.
    """
    if broker.cluster or broker.client is Client.REDPANDA or broker.has("zookeeper.connect"):
        return True
    roles = broker.word("process.roles") if broker.has("process.roles") else None
    voters = broker.word("controller.quorum.voters") or ""
    return "controller" in (roles or "") and "," not in voters
