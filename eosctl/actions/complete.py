"""Write the COMMIT marker that a coordinator decided on and skipped (KAFKA-20734).

A wrong COMMIT marker exposes aborted records to consumers. Therefore it is written only if the transaction log contains
the decision to commit this transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eosctl.actions.abort import Target, choose, plan_marker
from eosctl.actions.marker import MARKER_EVIDENCE
from eosctl.actions.protocol import Cluster
from eosctl.analysis.hanging import classify_open_transactions
from eosctl.analysis.skipped_marker import MarkerSearch, find_decision
from eosctl.analysis.state_log import history_by_id
from eosctl.collect.markers import search_markers
from eosctl.collect.reader import Asks, ReadOnly
from eosctl.errors import PlanRefused
from eosctl.model.hang import HangStatus, HangVerdict
from eosctl.model.limits import Limits
from eosctl.model.plan import MarkerPlan
from eosctl.model.snapshot import ClusterSnapshot

_NEXT: Final = "See: eosctl txn hanging -o wide"


async def prepare_complete(cluster: Cluster, target: Target) -> MarkerPlan:
    """Collect evidence and plan the COMMIT marker of a hanging transaction; see `plan_complete`."""
    snapshot = await cluster.collect(MARKER_EVIDENCE)
    verdicts = classify_open_transactions(snapshot)
    search = await search_for(cluster.client, snapshot, verdicts, target)
    return plan_complete(snapshot, verdicts, target, search)


def plan_complete(
    snapshot: ClusterSnapshot, verdicts: Sequence[HangVerdict], target: Target, search: MarkerSearch | None = None
) -> MarkerPlan:
    """Plan the COMMIT marker of a hanging transaction.

    Args:
        snapshot: The evidence, with two passes over transactions and the transaction log.
        verdicts: The result of `analysis.hanging`.
        target: The transaction to commit.
        search: The partition's markers since the decision, for a client below TV2 (`search_for`).

    Raises:
        UsageError: The topic, partition, or transaction is unknown, or several transactions match.
        PlanRefused: It is not hanging, or the log does not prove that it was committed.
    """
    verdict = choose(snapshot, verdicts, target)
    transaction = verdict.transaction
    if verdict.status is not HangStatus.HANGING:
        raise PlanRefused(
            f"The transaction of producer id {transaction.producer_id} on {transaction.partition} is "
            f"{verdict.status.value}, not hanging: nothing was changed.",
            verdict.explanation,
            _NEXT,
        )
    decision = find_decision(transaction, snapshot, history_by_id(snapshot), search)
    if decision.refusal or decision.record is None:
        raise PlanRefused(
            f"Nothing proves that the transaction of producer id {transaction.producer_id} on {transaction.partition} "
            "was committed: nothing was changed.",
            decision.refusal,
            _NEXT,
        )
    return plan_marker(
        snapshot,
        verdict,
        committed=True,
        producer_epoch=decision.record.producer_epoch,
        evidence=decision.evidence,
    )


async def search_for(
    client: Asks, snapshot: ClusterSnapshot, verdicts: Sequence[HangVerdict], target: Target
) -> MarkerSearch | None:
    """Search the partition for the decision's marker; return None if the transaction log is sufficient."""
    transaction = choose(snapshot, verdicts, target).transaction
    decision = find_decision(transaction, snapshot, history_by_id(snapshot))
    info = snapshot.partition(transaction.partition)
    if not decision.needs_search or decision.record is None or info is None:
        return None
    since_ms = decision.record.written_at_ms - Limits().clock_tolerance_ms
    return await search_markers(ReadOnly(client), info, transaction.producer_id, since_ms, transaction.first_offset)
