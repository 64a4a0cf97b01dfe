"""EOS-BRK-004."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from eosctl.analysis.release import release_floor
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import release_text

# What a transaction is made of; other differences do not touch exactly-once.
TRANSACTION_APIS: Final = {
    0: "Produce",
    22: "InitProducerId",
    24: "AddPartitionsToTxn",
    25: "AddOffsetsToTxn",
    26: "EndTxn",
    27: "WriteTxnMarkers",
    28: "TxnOffsetCommit",
}


@check(
    "EOS-BRK-004",
    "Brokers of different releases",
    Area.BROKER,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.API_VERSIONS}),
    tags=("upgrade",),
    references=(
        "KIP-890",
        "KAFKA-16992",
        "transaction.partition.verification.enable",
    ),
)
def mixed_api_versions(case: Case) -> Iterator[Problem]:
    """Find brokers that serve different versions of the transaction APIs.

    What it checks:
        The version ranges of Produce, InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, EndTxn, WriteTxnMarkers and
        TxnOffsetCommit that each broker reports (ApiVersions).

    Why it matters for exactly-once:
        Partition leaders send requests to transaction coordinators in the leader's newest version. This has failed
        between releases: with 3.6 to 3.7.0 brokers in the roll, older coordinators refuse AddPartitionsToTxn 4 and
        transactional writes fail. A client may also find a new protocol on one broker and the old one on the next.

    Example:
        A rolling upgrade that stopped half-way on Friday.

    Fix:
        Finish the upgrade. Roll to 3.7.1 or later, without a stop at 3.6.0 to 3.7.0.

    Verify:
        eosctl check run EOS-BRK-004 passes.
    """
    differing = _differing(case.snapshot)
    if not differing:
        return
    releases = _releases(case.snapshot)
    yield Problem(
        resource=Resource("cluster", case.snapshot.cluster_id),
        message=f"The brokers serve different versions of {', '.join(sorted(differing))}.",
        cause=f"Brokers of different releases: {releases}." if releases else "Brokers of different releases.",
        impact="Transactional requests between brokers, and of clients that meet both, may fail until all are alike.",
        evidence=tuple(
            Evidence(
                name, ", ".join(f"broker {broker}: up to {version}" for broker, version in versions), "ApiVersions"
            )
            for name, versions in sorted(differing.items())
        ),
        remedy=("Finish the rolling upgrade.",),
        commands=(Command(f"kafka-broker-api-versions.sh --bootstrap-server {case.bootstrap}", "all ranges"),),
        verify=(Command(f"eosctl check run EOS-BRK-004 -b {case.bootstrap}"),),
        facts=(("apis", ",".join(sorted(differing))),),
    )


def _differing(snapshot: ClusterSnapshot) -> Mapping[str, tuple[tuple[int, int], ...]]:
    by_api: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for broker in sorted(snapshot.brokers, key=lambda b: b.node_id):
        served = {api.api_key: api.max_version for api in broker.api_ranges}
        if not served:
            continue
        for api_key, name in TRANSACTION_APIS.items():
            by_api[name].append((broker.node_id, served.get(api_key, -1)))
    return {name: tuple(found) for name, found in by_api.items() if len({version for _, version in found}) > 1}


def _releases(snapshot: ClusterSnapshot) -> str:
    by_release: dict[str, list[str]] = defaultdict(list)
    for broker in sorted(snapshot.brokers, key=lambda b: b.node_id):
        floor = release_floor(broker)
        if floor is not None:
            by_release[release_text(floor)].append(str(broker.node_id))
    if len(by_release) < 2:
        return ""
    return "; ".join(f"{', '.join(ids)} at least {release}" for release, ids in sorted(by_release.items()))
