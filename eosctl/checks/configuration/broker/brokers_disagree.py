"""EOS-CFG-087."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.broker_clusters import is_broker
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role, cluster_of
from eosctl.model.severity import Severity

NAMES: Final = (
    "transaction.state.log.num.partitions",
    "offsets.topic.num.partitions",
    "transaction.state.log.replication.factor",
    "transaction.state.log.min.isr",
    "transaction.max.timeout.ms",
    "transactional.id.expiration.ms",
)


@check(
    "EOS-CFG-087",
    "Brokers differ in a setting that must be equal",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.BROKER,),
    reads=(
        "transaction.state.log.num.partitions",
        "offsets.topic.num.partitions",
        "transaction.state.log.replication.factor",
        "transaction.state.log.min.isr",
        "transaction.max.timeout.ms",
        "transactional.id.expiration.ms",
    ),
    tags=("coordinator",),
)
def brokers_disagree(case: Case) -> Iterator[Problem]:
    """Find brokers that would treat the same transaction differently.

    What it checks:
        Six settings of coordinators, over all brokers that name the same quorum or stand in one file, where at least
        one broker writes the setting down.

    Why it matters for exactly-once:
        A transactional id belongs to the partition that it hashes to, out of as many as the broker believes there
        are: brokers that disagree send clients to the wrong coordinator. With other limits the same producer is
        accepted here and refused there.

    Example:
        transaction.state.log.num.partitions=100 on the brokers that were added later.

    Fix:
        Use one value on all brokers: that of the topic as it is, for numbers of partitions.

    Verify:
        eosctl config lint reports it no longer.
    """
    clusters: dict[str, list[Component]] = {}
    for broker in filter(is_broker, case.deployment.of(Role.BROKER)):
        clusters.setdefault(cluster_of(broker), []).append(broker)
    for brokers in clusters.values():
        for name in NAMES:
            yield from _differing(brokers, name)


def _differing(brokers: list[Component], name: str) -> Iterator[Problem]:
    known = [(broker, value) for broker in brokers if (value := broker.value(name)).number is not None]
    by_number = {value.number: value for _, value in known}
    written = [(broker, value) for broker, value in known if value.is_given]
    if len(by_number) < 2 or not written:
        return  # images and releases with other defaults are not one cluster's
    broker, odd = written[-1]
    del by_number[odd.number]
    other = next(iter(by_number.values()))
    yield problem(
        broker,
        (odd, other),
        f"{name} is {odd.number:,} here and {other.number:,} on another broker of the cluster.",
        severity=None if name.endswith("partitions") else Severity.WARNING,
        impact="Which coordinator serves an id, or what it accepts, depends on the broker asked.",
        remedy=_remedy(name, max(value.number or 0 for _, value in known)),
    )


def _remedy(name: str, highest: int) -> str:
    """Return a remedy that leaves no decision on fewer brokers than before."""
    if name.endswith((".min.isr", ".replication.factor")):
        return f"Set {name}={highest}, the highest value, on all brokers."
    return "Use one value on all brokers."
