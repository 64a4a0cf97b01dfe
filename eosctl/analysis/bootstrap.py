"""An address for the commands that are proposed to the user."""

from __future__ import annotations

from eosctl.model.snapshot import ClusterSnapshot


def bootstrap_of(snapshot: ClusterSnapshot) -> str:
    """Return the first broker that answered, as ``host:port``."""
    broker = next((b for b in snapshot.brokers if b.reachable and not b.fenced), None)
    return "HOST:PORT" if broker is None else f"{broker.host}:{broker.port}"
