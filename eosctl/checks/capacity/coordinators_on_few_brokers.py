"""EOS-CAP-002."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from eosctl.analysis.coordinators import CONSUMER_OFFSETS_TOPIC, TRANSACTION_STATE_TOPIC
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.partition_commands import elect_preferred_leaders
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import count_text

NOTABLE: Final = 3


@check(
    "EOS-CAP-002",
    "Coordinators are unevenly spread",
    Area.CAPACITY,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.TOPICS}),
    tags=(
        "capacity",
        "availability",
    ),
    references=(
        "KIP-98",
        "auto.leader.rebalance.enable",
    ),
)
def coordinators_on_few_brokers(case: Case) -> Iterator[Problem]:
    """Find brokers that coordinate much more than their share.

    What it checks:
        The leaders of __transaction_state and of __consumer_offsets per broker: more than half again of an even
        share, and at least three partitions more.

    Why it matters for exactly-once:
        Every transaction of an id goes through one coordinator. A broker with twice its share is the first to be
        slow, and its loss moves twice as many transactions together.

    Example:
        After a rolling restart without auto.leader.rebalance.enable the broker that restarted last leads nothing.

    Fix:
        Elect preferred leaders; reassign where the preferred leaders themselves are uneven.

    Verify:
        eosctl check run EOS-CAP-002 passes.
    """
    if case.controller_is_silent:
        return
    answering = [broker.node_id for broker in case.snapshot.brokers if broker.reachable]
    for name in (TRANSACTION_STATE_TOPIC, CONSUMER_OFFSETS_TOPIC):
        topic = case.snapshot.topic(name)
        if topic is None or len(answering) < 2:
            continue
        leads = Counter(info.leader_id for info in topic.partitions if info.leader_id is not None)
        share = len(topic.partitions) / len(answering)
        broker_id, most = max(leads.items(), key=lambda item: item[1], default=(None, 0))
        if most > share * (100 + case.limits.coordinator_skew_percent) / 100 and most >= share + NOTABLE:
            yield Problem(
                resource=Resource("topic", name),
                message=f"Broker {broker_id} leads {most} of {count_text(len(topic.partitions), 'partition')} "
                f"of {name}.",
                impact="Its transactions or groups wait for one busy broker, and all of them move when it fails.",
                evidence=tuple(
                    Evidence(f"broker {b}", f"{leads.get(b, 0)} partitions", "Metadata") for b in answering[:8]
                ),
                remedy=("Elect preferred leaders.",),
                commands=(elect_preferred_leaders(case.snapshot),),
                verify=(Command(f"eosctl check run EOS-CAP-002 -b {case.bootstrap}"),),
                facts=(("topic", name), ("broker", broker_id or 0), ("partitions", most)),
            )
