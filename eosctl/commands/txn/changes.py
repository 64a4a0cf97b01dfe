"""The changes that ``eosctl txn`` can make, put together: abort, complete, fence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from eosctl.commands.invocation import Invocation
from eosctl.commands.txn.changing import Change
from eosctl.model.evidence import EvidenceKind
from eosctl.model.plan import FenceOutcome, FencePlan, MarkerOutcome, MarkerPlan
from eosctl.model.transaction import TopicPartition
from eosctl.render.progress import show_progress

if TYPE_CHECKING:
    from eosctl.client.client import Client
    from eosctl.model.snapshot import ClusterSnapshot

FENCED: Final = frozenset({EvidenceKind.TRANSACTIONS, EvidenceKind.BROKER_CONFIGS})
MARKED: Final = FENCED | {EvidenceKind.PRODUCERS, EvidenceKind.OFFSETS, EvidenceKind.TRANSACTION_HISTORY}


class Aim(msgspec.Struct, frozen=True):
    """Which transaction is meant."""

    partition: TopicPartition
    producer_id: int | None
    start_offset: int | None

    @classmethod
    def of(cls, topic: str, partition: int, producer_id: int | None, start_offset: int | None) -> Aim:
        """Build it from the options."""
        return cls(TopicPartition(topic, partition), producer_id, start_offset)


class Look(msgspec.Struct, frozen=True):
    """How a change reads the cluster."""

    invocation: Invocation
    second_look_after_ms: int = 0

    async def at(self, client: Client, kinds: frozenset[EvidenceKind]) -> ClusterSnapshot:
        """Collect what a plan needs."""
        from eosctl.collect.collector import Observer, collect_snapshot

        with show_progress() as progress:
            observer = Observer(
                self.invocation.now_ms, second_look_after_ms=self.second_look_after_ms, progress=progress
            )
            return await collect_snapshot(client, observer, kinds)


def abort_of(aim: Aim, look: Look, accept_data_loss: str | None) -> Change[MarkerPlan, MarkerOutcome]:
    """Put the abort of one hanging transaction together."""
    from eosctl.actions.abort import plan_abort
    from eosctl.actions.marker import apply_marker
    from eosctl.actions.official import abort_command
    from eosctl.analysis.hanging import classify_open_transactions
    from eosctl.render.transactions.plan import marker_text

    async def plan(client: Client) -> MarkerPlan:
        snapshot = await look.at(client, MARKED)
        return plan_abort(snapshot, classify_open_transactions(snapshot), aim, accept_data_loss=accept_data_loss)

    return Change(
        name="txn abort",
        target=str(aim.partition),
        look_again="eosctl txn hanging",
        plan=plan,
        identity=_identity,
        apply=apply_marker,
        official=abort_command,
        render=marker_text("txn abort", look.invocation.now_ms, look.invocation.style),
    )


def complete_of(aim: Aim, look: Look) -> Change[MarkerPlan, MarkerOutcome]:
    """Put the COMMIT marker of one committed transaction together."""
    from eosctl.actions.complete import plan_complete, search_for
    from eosctl.actions.marker import apply_marker
    from eosctl.analysis.hanging import classify_open_transactions
    from eosctl.render.transactions.plan import marker_text

    async def plan(client: Client) -> MarkerPlan:
        snapshot = await look.at(client, MARKED)
        verdicts = classify_open_transactions(snapshot)
        return plan_complete(snapshot, verdicts, aim, await search_for(client, snapshot, verdicts, aim))

    return Change(
        name="txn complete",
        target=str(aim.partition),
        look_again="eosctl txn hanging",
        plan=plan,
        identity=_identity,
        apply=apply_marker,
        official=lambda plan, connection: "",
        render=marker_text("txn complete", look.invocation.now_ms, look.invocation.style),
    )


def fence_of(transactional_id: str, look: Look, accept_data_loss: str | None) -> Change[FencePlan, FenceOutcome]:
    """Put the fencing of one transactional id together."""
    from eosctl.actions.fence import apply_fence, plan_fence
    from eosctl.actions.official import fence_command
    from eosctl.render.transactions.fence import fence_text

    async def plan(client: Client) -> FencePlan:
        return plan_fence(await look.at(client, FENCED), transactional_id, accept_data_loss=accept_data_loss)

    return Change(
        name="txn fence",
        target=transactional_id,
        look_again=f"eosctl txn describe {transactional_id}",
        plan=plan,
        # A live producer's epoch and state move on between two readings; the id that is fenced stays the same.
        identity=lambda plan: (plan.cluster_id, plan.transaction.producer_id, plan.timeout_ms),
        apply=apply_fence,
        official=fence_command,
        render=fence_text(look.invocation.now_ms, look.invocation.style),
    )


def _identity(plan: MarkerPlan) -> MarkerPlan:
    """Return the plan without what may differ between two readings of the same transaction."""
    return replace(
        plan,
        last_stable_offset=None,
        invisible_offsets=None,
        invisible_records=None,
        explanation="",
        warnings=(),
        evidence=(),
    )
