"""EOS-BRK-006."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind, GapReason
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource


@check(
    "EOS-BRK-006",
    "Broker does not answer",
    Area.BROKER,
    Severity.ERROR,
    needs=frozenset({EvidenceKind.CLUSTER}),
    tags=("availability",),
    references=(
        "KIP-112",
        "listeners",
    ),
)
def broker_unreachable(case: Case) -> Iterator[Problem]:
    """Find brokers that the cluster names and that cannot be reached from here.

    What it checks:
        Brokers of the metadata that are not fenced and did not answer ApiVersions, or that could not be connected to
        before that: an expired certificate, refused credentials.

    Why it matters for exactly-once:
        Coordinators and leaders on it cannot be used by clients that stand where eosctl stands; transactions on them
        run into their timeout. All its evidence is missing too.

    Example:
        advertised.listeners with a name that only the brokers' own network knows.

    Fix:
        Check the process and its advertised.listeners, and try the address from a client's host. Renew a certificate
        that has expired: clients and other brokers refuse it at their next connection.

    Verify:
        eosctl check run EOS-BRK-006 passes.
    """
    refused = {
        gap.subject: gap
        for gap in case.snapshot.gaps
        if gap.kind is EvidenceKind.API_VERSIONS and gap.reason is GapReason.NOT_AUTHENTICATED
    }
    for broker in case.snapshot.brokers:
        if not broker.reachable and not broker.fenced:
            address, gap = f"{broker.host}:{broker.port}", refused.get(f"broker {broker.node_id}")
            yield Problem(
                resource=Resource("broker", str(broker.node_id)),
                message=f"Broker {broker.node_id} at {address} does not answer."
                if gap is None
                else f"Broker {broker.node_id} cannot be used: {gap.detail}",
                impact="Its coordinators and leaders cannot be used from here.",
                evidence=(Evidence("address", address, "Metadata"),),
                remedy=(
                    f"Check the process of broker {broker.node_id} and its advertised.listeners."
                    if gap is None
                    else gap.next_step,
                ),
                verify=(Command(f"eosctl check run EOS-BRK-006 -b {case.bootstrap}"),),
                facts=(("broker", broker.node_id), ("host", broker.host), ("port", broker.port)),
            )
