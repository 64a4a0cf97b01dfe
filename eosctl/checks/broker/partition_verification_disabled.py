"""EOS-BRK-002."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.settings import BrokerValue, broker_values, set_on_all_brokers
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Resource
from eosctl.text import name_some

SETTING = "transaction.partition.verification.enable"


@check(
    "EOS-BRK-002",
    "Partition verification is disabled",
    Area.BROKER,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.BROKER_CONFIGS}),
    since=(3, 6),
    tags=("hanging", "configuration"),
    references=(
        "KIP-890",
        "KAFKA-14402",
        "transaction.partition.verification.enable",
        "KAFKA-15653",
        "KAFKA-16992",
    ),
)
def partition_verification_disabled(case: Case) -> Iterator[Problem]:
    """Find brokers that append transactional records without asking the coordinator.

    What it checks:
        transaction.partition.verification.enable on every broker. It is true by default since Kafka 3.6: before
        the first append of a transaction the broker asks the coordinator whether the partition belongs to it.

    Why it matters for exactly-once:
        Without it a delayed Produce request that arrives after the end of its transaction is appended and opens a
        transaction that no coordinator will complete: the partition's last stable offset stops (EOS-TXN-001).

    Example:
        transaction.partition.verification.enable=false, left over from the workaround for KAFKA-16992.

    Fix:
        Set it to true; it is dynamic, cluster-wide. A value of a single broker stands before the default of all brokers
        and must be removed. Brokers 3.6.0 to 3.7.0 have bugs in the verification (KAFKA-15653,
        KAFKA-16992): upgrade them first.

    Verify:
        eosctl check run EOS-BRK-002 passes.
    """
    disabled = [found for found in broker_values(case.snapshot, SETTING) if found.setting.value == "false"]
    if not disabled:
        return
    brokers = [str(found.broker_id) for found in disabled]
    yield Problem(
        resource=Resource("cluster", case.snapshot.cluster_id),
        message=f"{SETTING} is false on {name_some('broker', brokers)}.",
        cause=_source(disabled[0]),
        impact="A delayed Produce request can leave a hanging transaction on any partition these brokers lead.",
        evidence=tuple(found.evidence for found in disabled),
        remedy=("Set it back to true. The change takes effect immediately.",),
        commands=set_on_all_brokers(disabled, SETTING, "true", case.bootstrap),
        verify=(Command(f"eosctl check run EOS-BRK-002 -b {case.bootstrap}"),),
        incident=SETTING,
        facts=(("setting", SETTING), ("brokers", ", ".join(brokers))),
    )


def _source(found: BrokerValue) -> str:
    return f"It is set explicitly ({found.setting.source.value}); the default is true."
