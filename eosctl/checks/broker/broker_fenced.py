"""EOS-BRK-007."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.snapshot import Broker
from eosctl.model.verdict import Evidence, Resource


@check(
    "EOS-BRK-007",
    "Broker is registered and fenced",
    Area.BROKER,
    Severity.ERROR,
    needs=frozenset({EvidenceKind.CLUSTER}),
    tags=("availability",),
    references=(
        "KIP-631",
        "KIP-1073",
        "broker.session.timeout.ms",
    ),
)
def broker_fenced(case: Case) -> Iterator[Problem]:
    """Find brokers that the controller has shut out.

    What it checks:
        Brokers that DescribeCluster reports as fenced (Kafka 4.0 and later). One that still answers clients does so
        with the metadata from before: the offset in ApiVersions shows how old it is.

    Why it matters for exactly-once:
        A fenced broker leads nothing and is in no ISR: durability is smaller than the number of replicas says. It is
        stopped, cut off from the controllers, or still reading its metadata.

    Example:
        A broker whose heartbeats do not reach the controllers.

    Fix:
        Start it, or check its connection to the controllers; unregister it if it is permanently gone. Keep clients away
        from a broker that is cut off.

    Verify:
        eosctl check run EOS-BRK-007 passes.
    """
    newest = max((broker.metadata_offset or 0 for broker in case.snapshot.brokers), default=0)
    for broker in case.snapshot.brokers:
        if broker.fenced:
            yield _dead(case, broker) if broker.metadata_offset is None else _cut_off(case, broker, newest)


def _dead(case: Case, broker: Broker) -> Problem:
    return Problem(
        resource=Resource("broker", str(broker.node_id)),
        message=f"Broker {broker.node_id} is fenced.",
        impact="It leads no partition and is in no ISR.",
        evidence=(Evidence("fenced", "true", "DescribeCluster"),),
        remedy=(f"Start broker {broker.node_id}, or check its connection to the controllers.",),
        verify=(Command(f"eosctl check run EOS-BRK-007 -b {case.bootstrap}"),),
        facts=(("broker", broker.node_id),),
    )


def _cut_off(case: Case, broker: Broker, newest: int) -> Problem:
    return replace(
        _dead(case, broker),
        message=f"Broker {broker.node_id} is fenced and still answers clients: it is cut off from the controllers.",
        impact="It leads no partition and is in no ISR, and clients that it answers use outdated leaders.",
        evidence=(
            Evidence("fenced", "true", "DescribeCluster"),
            Evidence("metadata offset", f"{broker.metadata_offset} of {newest}", "ApiVersions"),
        ),
        remedy=(f"Check the connection of broker {broker.node_id} to the controllers; its process runs.",),
    )
