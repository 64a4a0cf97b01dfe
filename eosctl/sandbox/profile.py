"""The sandbox's own defaults. DescribeConfigs shows them as static broker settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from eosctl.sandbox.metadata.image import ListenerEndpoint
from eosctl.sandbox.security.protocol import SecurityProtocol

MAX_INTERNAL_REPLICATION = 3
MAX_INTERNAL_MIN_ISR = 2

#: For a cluster on one machine: fast failover and group starts, and few partitions of internal topics.
BASE: Mapping[str, str] = {
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "2000",
    "controller.quorum.election.backoff.max.ms": "300",
    "controller.quorum.election.timeout.ms": "300",
    "controller.quorum.fetch.timeout.ms": "1000",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
}

#: `--fast`: failover in well under a second.
FAST: Mapping[str, str] = {
    "broker.heartbeat.interval.ms": "50",
    "broker.session.timeout.ms": "300",
    "controller.quorum.election.backoff.max.ms": "50",
    "controller.quorum.election.timeout.ms": "50",
    "controller.quorum.fetch.timeout.ms": "200",
    "controller.quorum.request.timeout.ms": "200",
    "replica.fetch.wait.max.ms": "100",
}


def node_settings(
    node_id: int, broker_count: int, *, fast: bool = False, overrides: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return a node's static settings (its `server.properties`); `overrides` take precedence.

    Internal topics get one replica per broker, at most three, so that transactions work with one broker.
    """
    replication = str(min(MAX_INTERNAL_REPLICATION, broker_count))
    min_isr = str(min(MAX_INTERNAL_MIN_ISR, broker_count))
    settings = {
        "node.id": str(node_id),
        "broker.id": str(node_id),
        "default.replication.factor": replication,
        "offsets.topic.replication.factor": replication,
        "transaction.state.log.replication.factor": replication,
        "transaction.state.log.min.isr": min_isr,
        "share.coordinator.state.topic.replication.factor": replication,
        "share.coordinator.state.topic.min.isr": min_isr,
        **BASE,
    }
    if fast:
        settings |= FAST
    return settings | dict(overrides or {})


class BoundListener(NamedTuple):
    """A listener of a broker: its address for clients, and the one that the broker binds."""

    endpoint: ListenerEndpoint
    host: str
    port: int


def place_settings(
    log_dirs: Sequence[Path],
    listeners: Sequence[BoundListener],
    inter_broker_listener: str | None = None,
    *,
    is_controller: bool,
    is_broker: bool,
) -> dict[str, str]:
    """Return the settings for a node's directories, listeners, and roles. Only brokers have listener settings.

    Listeners that are not named after their protocol need the map of Kafka, and one of them is that between brokers.
    """
    roles = [role for role, has in (("broker", is_broker), ("controller", is_controller)) if has]
    settings = {"process.roles": ",".join(roles), "log.dirs": ",".join(map(str, log_dirs))}
    if listeners:
        ends = [listener.endpoint for listener in listeners]
        settings["listeners"] = ",".join(f"{one.endpoint.name}://{one.host}:{one.port}" for one in listeners)
        settings["advertised.listeners"] = ",".join(f"{end.name}://{end.host}:{end.port}" for end in ends)
        protocols = {end.name: SecurityProtocol(end.security_protocol).name for end in ends}
        if any(name != protocol for name, protocol in protocols.items()):
            protocols["CONTROLLER"] = SecurityProtocol.PLAINTEXT.name
            settings["listener.security.protocol.map"] = ",".join(f"{name}:{one}" for name, one in protocols.items())
            settings["inter.broker.listener.name"] = inter_broker_listener or ends[0].name
    return settings
