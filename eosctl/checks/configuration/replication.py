"""Pairs of a minimum of in-sync replicas and the number of replicas that it belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.model.deployment import Component, Deployment, Role, Value

_PAIRS: Final = {
    Role.BROKER: (
        ("transaction.state.log.min.isr", "transaction.state.log.replication.factor"),
        ("min.insync.replicas", "default.replication.factor"),
    ),
    Role.TOPIC: (("min.insync.replicas", "replication.factor"),),
}


def replication_pairs(deployment: Deployment) -> Iterator[tuple[Component, Value, Value]]:
    """Yield component, minimum, and factor, for pairs with an explicit setting."""
    for role, names in _PAIRS.items():
        for component in deployment.of(role):
            for minimum_name, factor_name in names:
                minimum, factor = component.value(minimum_name), component.value(factor_name)
                # Topics may be sized one by one: the default of one replica says nothing about them.
                sized = role is Role.TOPIC or factor_name != "default.replication.factor"
                if factor.is_given or (minimum.is_given and sized):
                    yield component, minimum, factor
