"""EOS-BRK-005."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource

FEATURE = "transaction.version"
TV2 = 2


@check(
    "EOS-BRK-005",
    "transaction.version is not finalized",
    Area.BROKER,
    Severity.INFO,
    needs=frozenset({EvidenceKind.FEATURES}),
    since=(4, 0),
    tags=("upgrade", "hanging"),
    references=(
        "KIP-890",
        "KIP-1022",
        "transaction.version",
    ),
)
def transaction_version_not_finalized(case: Case) -> Iterator[Problem]:
    """Find clusters whose brokers could do TV2 and which were never switched to it.

    What it checks:
        The finalized level of the feature transaction.version against what the brokers support.

    Why it matters for exactly-once:
        With level 2 every transaction ends with a new epoch, so that a late request of an old transaction is refused:
        hanging transactions of this kind cannot arise. Below it, that protection rests on partition verification alone.

    Example:
        A cluster upgraded from 3.9 to 4.x: brokers and clients are new, the feature stayed at 0.

    Fix:
        When every broker runs 4.0 or later and the upgrade is settled, raise the level. It can be lowered again.

    Verify:
        kafka-features.sh describe shows transaction.version at 2.
    """
    feature = case.snapshot.feature(FEATURE)
    if feature is None or feature.max_supported < TV2:
        return
    finalized = feature.finalized or 0
    if finalized >= TV2:
        return
    yield Problem(
        resource=Resource("cluster", case.snapshot.cluster_id),
        message=f"{FEATURE} is finalized at {finalized}; the brokers support up to {feature.max_supported}.",
        cause="An upgrade of the brokers does not raise the feature by itself.",
        impact="Late requests of ended transactions are kept out by partition verification alone.",
        evidence=(
            Evidence("finalized", str(finalized), "ApiVersions"),
            Evidence("supported", f"{feature.min_supported} to {feature.max_supported}", "ApiVersions"),
        ),
        remedy=("Raise it to 2 when the upgrade is settled.",),
        commands=(Command(f"kafka-features.sh --bootstrap-server {case.bootstrap} upgrade --feature {FEATURE}=2"),),
        verify=(Command(f"kafka-features.sh --bootstrap-server {case.bootstrap} describe", f"{FEATURE} at 2"),),
        facts=(("feature", FEATURE), ("finalized", finalized), ("supported", feature.max_supported)),
    )
