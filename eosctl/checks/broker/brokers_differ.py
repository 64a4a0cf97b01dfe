"""EOS-BRK-009."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.settings import broker_values, set_on_all_brokers
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Resource

NAMES: Final = (
    "transaction.max.timeout.ms",
    "transactional.id.expiration.ms",
    "producer.id.expiration.ms",
    "offsets.retention.minutes",
    "min.insync.replicas",
    "transaction.partition.verification.enable",
    "transaction.state.log.num.partitions",
    "offsets.topic.num.partitions",
)


@check(
    "EOS-BRK-009",
    "Brokers differ in a setting of coordinators",
    Area.BROKER,
    Severity.ERROR,
    needs=frozenset({EvidenceKind.BROKER_CONFIGS}),
    tags=("upgrade",),
    references=(
        "KIP-98",
        "transaction.max.timeout.ms",
        "transactional.id.expiration.ms",
        "offsets.retention.minutes",
        "transaction.state.log.num.partitions",
    ),
)
def brokers_differ(case: Case) -> Iterator[Problem]:
    """Find brokers that treat the same transaction differently.

    What it checks:
        transaction.max.timeout.ms, transactional.id.expiration.ms, producer.id.expiration.ms,
        offsets.retention.minutes, min.insync.replicas, transaction.partition.verification.enable and the numbers of
        partitions of internal topics, compared over all brokers that answered.

    Why it matters for exactly-once:
        What holds depends on which broker coordinates an id: after a failover a producer is refused that was accepted
        before, or an id expires that was to be kept.

    Example:
        A rolling change of transaction.max.timeout.ms that stopped half-way.

    Fix:
        Set the same value on every broker.

    Verify:
        eosctl check run EOS-BRK-009 passes.
    """
    for name in NAMES:
        reported = broker_values(case.snapshot, name)
        values = {one.setting.value for one in reported}
        if len(values) > 1:
            yield Problem(
                resource=Resource("cluster", case.snapshot.cluster_id),
                message=f"The brokers differ in {name}: {', '.join(sorted(str(value) for value in values))}.",
                impact="What holds for an id depends on the broker that coordinates it.",
                evidence=tuple(one.evidence for one in reported[:8]),
                remedy=(_remedy(name, values),),
                commands=(
                    set_on_all_brokers(reported, name, _SAFE_VALUE[name], case.bootstrap) if name in _SAFE_VALUE else ()
                ),
                verify=(Command(f"eosctl check run EOS-BRK-009 -b {case.bootstrap}"),),
                incident=name,
                facts=(("setting", name),),
            )


#: Dynamic settings with one value that is right for every cluster.
_SAFE_VALUE: Final = {"transaction.partition.verification.enable": "true"}
#: A lower value would leave acknowledged records on fewer brokers.
_HIGHEST_IS_DURABLE: Final = {"min.insync.replicas": True}


def _remedy(name: str, values: set[str | None]) -> str:
    highest = max((int(value) for value in filter(None, values) if value.isdecimal()), default=0)
    wins = highest and _HIGHEST_IS_DURABLE.get(name)
    return (
        f"Set {name}={highest}, the highest of them, on every broker."
        if wins
        else "Set the same value on every broker."
    )
