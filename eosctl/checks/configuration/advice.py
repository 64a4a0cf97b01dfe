"""Advised values within the bounds that the other settings set: brokers' maximum of a timeout, and their number."""

from __future__ import annotations

from typing import Final

from eosctl.checks.configuration.broker_clusters import known_number
from eosctl.checks.configuration.clients import BROKER_MAX_TIMEOUT_MS, broker_limits, checkpointing, minutes
from eosctl.model.deployment import Component, Deployment, Role
from eosctl.settings.values.durations import duration_ms

MARGIN: Final = 3
"""How many times the time between two commits a transaction timeout should be."""
ENOUGH_REPLICAS: Final = 3
MAXIMUM: Final = "transaction.max.timeout.ms"


def longest_timeout(deployment: Deployment) -> int:
    """Return the longest transaction timeout that all given brokers accept, in ms; by default that of Kafka's."""
    limits = [limit for _, _, limit in broker_limits(deployment, MAXIMUM)]
    return min(limits, default=BROKER_MAX_TIMEOUT_MS)


def least_timeout(deployment: Deployment, producer: Component) -> int:
    """Return the timeout that the times between commits of a producer's application need, in ms; 0 without any."""
    streams = deployment.same_application(producer, Role.STREAMS)
    needed = [MARGIN * (one.value("commit.interval.ms").number or 0) for one in streams]
    needed.append(MARGIN * (duration_ms(producer.value("eos-commit-interval").word) or 0))
    needed.append(producer.value("delivery.timeout.ms").number or 0)
    jobs = deployment.same_application(producer, Role.FLINK)
    needed += [sum(duration_ms(value.word) or 0 for value in checkpointing(deployment, job)) for job in jobs]
    return max(needed)


def fitting(deployment: Deployment, producer: Component, limit: int) -> str:
    """Return what goes with a timeout of a limit in ms: a commit interval of Streams that fits it, or nothing."""
    streams = deployment.same_application(producer, Role.STREAMS)
    is_long = any(MARGIN * (one.value("commit.interval.ms").number or 0) > limit for one in streams)
    return f", and set commit.interval.ms={max(1, limit // MARGIN)}" if is_long else ""


def longer_timeout(deployment: Deployment, key: str, needed_ms: int, interval: str) -> str:
    """Return how a transaction gets more time than its interval: a longer timeout, or else a shorter interval.

    Args:
        deployment: What is configured.
        key: The timeout's key.
        needed_ms: The timeout that the interval needs.
        interval: The interval's key, which a third of the timeout fits.
    """
    limit = longest_timeout(deployment)
    if needed_ms <= limit:
        return f"Set {key}={needed_ms}, or shorten {interval}."
    return (
        f"Shorten {interval} to a third of the transaction timeout or less; "
        f"the brokers accept no timeout above {minutes(limit)}."
    )


def three_replicas(deployment: Deployment, key: str) -> str:
    """Return how a setting gets three replicas, which a cluster with fewer brokers does not have."""
    count = known_number(deployment)
    if 0 < count < ENOUGH_REPLICAS:
        return f"Add brokers, as the cluster has {count}; then set {key}={ENOUGH_REPLICAS}."
    return f"Set {key}={ENOUGH_REPLICAS}."


def replicas_above(deployment: Deployment, minimum: str, wanted: int, factor: str, replicas: int) -> str:
    """Return how a minimum of in-sync replicas gets below the number of replicas, without less durability.

    Args:
        deployment: What is configured.
        minimum: The key of the minimum, which is `wanted`.
        wanted: The minimum.
        factor: The key of the number of replicas.
        replicas: How many replicas there are to be today.
    """
    count = known_number(deployment)
    if replicas < ENOUGH_REPLICAS <= wanted:
        return f"{three_replicas(deployment, factor).removesuffix('.')} with two replicas in sync ({minimum}: 2)."
    if 0 < count <= wanted:
        # No more replicas than brokers: one of them may be out of sync.
        if count < ENOUGH_REPLICAS:
            return three_replicas(deployment, factor)
        return f"Set {factor}={count} with {minimum}={count - 1}, as the cluster has {count} brokers."
    return f"Set {factor}={wanted + 1}."
