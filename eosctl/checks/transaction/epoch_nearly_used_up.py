"""EOS-TXN-008."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import count_text, name_some

NEARLY: Final = 32_700


@check(
    "EOS-TXN-008",
    "Producer epoch is nearly used up",
    Area.TRANSACTION,
    Severity.INFO,
    needs=frozenset({EvidenceKind.TRANSACTIONS}),
    since=(3, 0),
    tags=("fencing",),
    references=(
        "KIP-360",
        "KIP-890",
        "KAFKA-19367",
        "KAFKA-20090",
    ),
)
def epoch_nearly_used_up(case: Case) -> Iterator[Problem]:
    """Find transactional ids that get a new producer id soon.

    What it checks:
        Producer epochs of 32,700 and more; 32,766 is the last one that is used.

    Why it matters for exactly-once:
        At the end of its epochs an id gets a new producer id. With transaction.version=2 every transaction takes an
        epoch, so this happens every 32,766 transactions; brokers of 4.0 could get stuck there when a timeout or an
        initialisation came at the same moment.

    Example:
        A busy id on 4.0 at epoch 32,760.

    Fix:
        Nothing on 3.9 and current 4.x. On 4.0 upgrade, or initialize the id at a quiet moment.

    Verify:
        eosctl check run EOS-TXN-008 passes.
    """
    last = [t for t in case.snapshot.transactions if t.described and t.producer_epoch >= NEARLY]
    if last:
        names = [f"{t.transactional_id} ({t.producer_epoch})" for t in last]
        yield Problem(
            resource=Resource("cluster", case.snapshot.cluster_id),
            message=f"{count_text(len(last), 'transactional id')} near the last epoch.",
            evidence=(Evidence("nearly used up", name_some("id", names), "DescribeTransactions"),),
            remedy=("On 4.0, upgrade; elsewhere nothing is to be done.",),
            verify=(Command(f"eosctl check run EOS-TXN-008 -b {case.bootstrap}"),),
            facts=(("transactional_ids", ",".join(t.transactional_id for t in last)),),
        )
