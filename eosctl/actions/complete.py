"""Write the COMMIT marker that a coordinator decided on and that is missing (KAFKA-20734, unclean elections).

A wrong COMMIT marker exposes aborted records to consumers. Therefore it is written only if the transaction log contains
the decision to commit this transaction.
"""

from __future__ import annotations

from collections.abc import Sequence

from eosctl.actions.abort import Target, choose, plan_marker, refuse_open
from eosctl.actions.marker import MARKER_EVIDENCE
from eosctl.actions.protocol import Cluster
from eosctl.analysis.coordinators import may_hide_transactional_ids
from eosctl.analysis.hanging import classify_open_transactions
from eosctl.analysis.marker_decision import Marker, decide_marker
from eosctl.errors import PlanRefused
from eosctl.findings.bootstrap import target_words
from eosctl.model.hang import HangStatus, HangVerdict
from eosctl.model.plan import MarkerPlan
from eosctl.model.snapshot import ClusterSnapshot


async def prepare_complete(cluster: Cluster, target: Target) -> MarkerPlan:
    """Collect evidence and plan the COMMIT marker of a hanging transaction; see `plan_complete`."""
    snapshot = await cluster.collect(MARKER_EVIDENCE)
    return plan_complete(snapshot, classify_open_transactions(snapshot), target)


def plan_complete(snapshot: ClusterSnapshot, verdicts: Sequence[HangVerdict], target: Target) -> MarkerPlan:
    """Plan the COMMIT marker of one hanging transaction.

    Args:
        snapshot: The evidence, with two readings and the transaction log.
        verdicts: The verdicts of ``analysis.hanging`` on it.
        target: The transaction that the user means.

    Raises:
        UsageError: The topic, partition, or transaction is unknown, or several transactions match.
        PlanRefused: It is not hanging, or the log does not prove that it was committed.
    """
    verdict = choose(snapshot, verdicts, target)
    if verdict.status is not HangStatus.HANGING:
        raise refuse_open(verdict)
    transaction = verdict.transaction
    decision = decide_marker(
        transaction,
        snapshot,
        snapshot.history_by_id,
        ids_may_be_hidden=may_hide_transactional_ids(snapshot),
    )
    if decision.marker is not Marker.COMMIT or decision.record is None:
        what = (
            f"Nothing proves that the transaction of producer id {transaction.producer_id} on {transaction.partition} "
            "was committed: nothing was changed."
        )
        next_step = "See: eosctl txn hanging -o wide"
        if decision.marker is Marker.ABORT:
            next_step = f"It needs an ABORT marker: eosctl txn abort {target_words(transaction)}"
        raise PlanRefused(what, decision.why, next_step)
    return plan_marker(
        snapshot,
        verdict,
        committed=True,
        producer_epoch=decision.record.producer_epoch,
        evidence=decision.evidence,
    )
