"""EOS-BRK-011."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.settings import broker_values, number
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.setting import SettingSource
from eosctl.model.severity import Severity
from eosctl.model.verdict import Resource


@check(
    "EOS-BRK-011",
    "min.insync.replicas of single brokers has no effect",
    Area.BROKER,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.FEATURES, EvidenceKind.BROKER_CONFIGS}),
    since=(4, 0),
    tags=(
        "durability",
        "upgrade",
    ),
    references=(
        "KIP-966",
        "min.insync.replicas",
        "EOS-CFG-039",
    ),
)
def broker_min_isr_without_effect(case: Case) -> Iterator[Problem]:
    """Find clusters with eligible leader replicas whose brokers name a minimum of their own.

    What it checks:
        With eligible.leader.replicas.version at 1 or higher: min.insync.replicas that a broker has set dynamically
        for itself alone, or that differs between the brokers.

    Why it matters for exactly-once:
        With eligible leader replicas the minimum belongs to the cluster or to a topic. A value of a single broker is
        not used; the cluster keeps what the controller had when the feature was switched on.

    Example:
        min.insync.replicas=2 was added to some server.properties after the upgrade to 4.1.

    Fix:
        Set it for the cluster: kafka-configs.sh --entity-type brokers --entity-default. Doing so clears the recorded
        eligible replicas, so do it while all replicas are in sync.

    Verify:
        eosctl check run EOS-BRK-011 passes.
    """
    feature = case.snapshot.feature("eligible.leader.replicas.version")
    if feature is None or not feature.finalized:
        return
    values = broker_values(case.snapshot, "min.insync.replicas")
    own = [one for one in values if one.setting.source is SettingSource.DYNAMIC_BROKER]
    differing = len({one.setting.value for one in values}) > 1
    if own or differing:
        # The highest that a broker asks for: a lower one would leave acknowledged records on fewer brokers.
        highest = max([2, *filter(None, (number(one.setting) for one in values))])
        yield Problem(
            resource=Resource("cluster", case.snapshot.cluster_id),
            message="min.insync.replicas is set on single brokers, where it has no effect.",
            impact="Writes wait for other numbers of replicas than configured.",
            evidence=tuple(one.evidence for one in values[:8]),
            remedy=("Set it for the cluster while all replicas are in sync.",),
            commands=(
                Command(
                    f"kafka-configs.sh --bootstrap-server {case.bootstrap} --alter --entity-type brokers "
                    f"--entity-default --add-config min.insync.replicas={highest}"
                ),
            ),
            verify=(Command(f"eosctl check run EOS-BRK-011 -b {case.bootstrap}"),),
            facts=(("finalized", feature.finalized),),
        )
