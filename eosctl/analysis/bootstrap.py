"""An address for the commands that are proposed to the user."""

from __future__ import annotations

from shlex import quote

from eosctl.model.snapshot import ClusterSnapshot


def bootstrap_of(snapshot: ClusterSnapshot) -> str:
    """Return the first broker that answered, as ``host:port``, and with it what else reaches the cluster.

    The option ``--command-config`` is the same word in eosctl and in Kafka's own tools, so what is returned can follow
    ``-b`` and ``--bootstrap-server`` alike.
    """
    broker = next((b for b in snapshot.brokers if b.reachable and not b.fenced), None)
    address = "HOST:PORT" if broker is None else f"{broker.host}:{broker.port}"
    return f"{address} --command-config {quote(snapshot.command_config)}" if snapshot.command_config else address
