"""What runbooks can do: each change is planned from the cluster's state, can be undone or says that it cannot."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from eosctl.actions.abort import plan_abort
from eosctl.actions.complete import plan_complete, search_for
from eosctl.actions.feature import apply_feature, plan_feature
from eosctl.actions.fence import apply_fence, plan_fence
from eosctl.actions.group_offsets import apply_positions, plan_positions
from eosctl.actions.leaders import apply_election, plan_election
from eosctl.actions.marker import apply_marker
from eosctl.actions.verification import apply_verification, plan_verification
from eosctl.analysis.hanging import classify_open_transactions
from eosctl.client.client import Client
from eosctl.errors import PlanRefused, unknown_name
from eosctl.model.evidence import EvidenceKind
from eosctl.model.plan import MarkerPlan
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import TopicPartition
from eosctl.runbooks.probe_kind import Parameter, with_defaults
from eosctl.runbooks.readings import Arguments


class Risk(StrEnum):
    """What a change can cost."""

    SAFE = "safe"
    DISRUPTIVE = "disruptive"
    DESTRUCTIVE = "destructive"


class Sees(Protocol):
    """How a change reads the cluster."""

    @property
    def client(self) -> Client:
        """The client that changes are made through."""

    async def look(self, kinds: frozenset[EvidenceKind]) -> ClusterSnapshot:
        """Collect evidence."""


class Done(NamedTuple):
    """What came of a change, as far as the change itself can tell."""

    verified: bool
    detail: str


class Prepared(NamedTuple):
    """A planned change; two plans of the same thing have equal ``identity``."""

    summary: str
    identity: object
    apply: Callable[[], Awaitable[Done]]


class ChangeKind(msgspec.Struct, frozen=True):
    """A change.

    Attributes:
        name: As runbooks call it.
        about: What it does, in one sentence.
        risk: What it can cost.
        rollback: How it is undone; ``none`` and why when it is not.
        prepare: Plans it; raises PlanRefused where the state does not allow it.
        parameters: Its arguments.
    """

    name: str
    about: str
    risk: Risk
    rollback: str
    prepare: Callable[[Sees, Arguments], Awaitable[Prepared]]
    parameters: Mapping[str, Parameter] = msgspec.field(default_factory=dict)

    @property
    def reversible(self) -> bool:
        """Whether it can be undone."""
        return not self.rollback.startswith("none")

    async def plan(self, sees: Sees, arguments: Arguments) -> Prepared:
        """Plan it; raises what ``prepare`` raises, and UsageError where an argument is no number."""
        return await self.prepare(sees, with_defaults(self.name, self.parameters, arguments))


class _Aim(NamedTuple):
    partition: TopicPartition
    producer_id: int | None
    start_offset: int | None

    @classmethod
    def of(cls, given: Arguments) -> _Aim:
        return cls(
            TopicPartition(str(given["topic"]), int(given["partition"])),
            int(given["producer_id"]),
            int(given["first_offset"]),
        )


_MARKED: Final = frozenset(
    {
        EvidenceKind.TRANSACTIONS,
        EvidenceKind.BROKER_CONFIGS,
        EvidenceKind.PRODUCERS,
        EvidenceKind.OFFSETS,
        EvidenceKind.TRANSACTION_HISTORY,
    }
)


async def _abort(sees: Sees, given: Arguments) -> Prepared:
    snapshot = await sees.look(_MARKED)
    return _marker(sees, plan_abort(snapshot, classify_open_transactions(snapshot), _Aim.of(given)))


async def _complete(sees: Sees, given: Arguments) -> Prepared:
    snapshot = await sees.look(_MARKED)
    verdicts, aim = classify_open_transactions(snapshot), _Aim.of(given)
    return _marker(sees, plan_complete(snapshot, verdicts, aim, await search_for(sees.client, snapshot, verdicts, aim)))


def _marker(sees: Sees, plan: MarkerPlan) -> Prepared:
    async def apply() -> Done:
        outcome = await apply_marker(sees.client, plan)
        return Done(outcome.verified, outcome.detail)

    kind = "COMMIT" if plan.committed else "ABORT"
    summary = (
        f"write the {kind} marker on {plan.partition} for producer id {plan.producer_id}, epoch {plan.producer_epoch}, "
        f"open since offset {plan.first_offset}"
    )
    # What later appends move is not part of the transaction.
    identity = replace(
        plan,
        last_stable_offset=None,
        invisible_offsets=None,
        invisible_records=None,
        explanation="",
        warnings=(),
        evidence=(),
    )
    return Prepared(summary, identity, apply)


async def _fence(sees: Sees, given: Arguments) -> Prepared:
    kinds = frozenset({EvidenceKind.TRANSACTIONS, EvidenceKind.BROKER_CONFIGS})
    plan = plan_fence(await sees.look(kinds), str(given["transactional_id"]))

    async def apply() -> Done:
        outcome = await apply_fence(sees.client, plan)
        return Done(outcome.verified, outcome.detail)

    where = plan.transaction
    identity = (plan.cluster_id, where.producer_id, where.start_time_ms, plan.timeout_ms)
    return Prepared(f"fence {where.transactional_id}: {plan.consequence}", identity, apply)


async def _elect(sees: Sees, given: Arguments) -> Prepared:
    plan = plan_election(await sees.look(frozenset()), str(given["topic"]))
    if not plan.partitions:
        raise PlanRefused(
            "There is nothing to elect.",
            "Every partition is led by its first replica, or that one is out of sync.",
            "See who is out of sync: eosctl doctor -b ADDRESS",
        )

    async def apply() -> Done:
        return Done(*await apply_election(sees.client, plan))

    return Prepared(f"elect the preferred leaders of {len(plan.partitions)} partitions", plan, apply)


async def _raise_feature(sees: Sees, given: Arguments) -> Prepared:
    snapshot = await sees.look(frozenset({EvidenceKind.FEATURES}))
    plan = plan_feature(snapshot, str(given["feature"]), int(given["level"]))

    async def apply() -> Done:
        return Done(*await apply_feature(sees.client, plan))

    return Prepared(f"raise {plan.feature} from {plan.level_before} to {plan.level}", plan, apply)


async def _verify_partitions(sees: Sees, given: Arguments) -> Prepared:
    plan = plan_verification(await sees.look(frozenset({EvidenceKind.BROKER_CONFIGS})))

    async def apply() -> Done:
        return Done(*await apply_verification(sees.client, plan))

    ids = ", ".join(map(str, plan.broker_ids))
    return Prepared(f"set transaction.partition.verification.enable=true (off on broker {ids})", plan, apply)


async def _move_positions(sees: Sees, given: Arguments) -> Prepared:
    kinds = _MARKED | {EvidenceKind.GROUPS, EvidenceKind.GROUP_OFFSETS, EvidenceKind.PENDING_OFFSETS}
    plan = plan_positions(await sees.look(kinds), str(given["group"]))

    async def apply() -> Done:
        return Done(*await apply_positions(sees.client, plan))

    moves = "; ".join(f"{move.partition}: {move.offset_before} -> {move.offset}" for move in plan.moves[:5])
    more = f" and {len(plan.moves) - 5} more" if len(plan.moves) > 5 else ""
    return Prepared(f"move positions of group {plan.group_id}: {moves}{more}", plan, apply)


_TRANSACTION: Final = {
    "topic": Parameter("Its topic"),
    "partition": Parameter("Its partition", is_number=True),
    "producer_id": Parameter("Its producer id", is_number=True),
    "first_offset": Parameter("Its first offset", is_number=True),
}

CHANGES: Final = (
    ChangeKind(
        "txn.abort",
        "Write the ABORT marker of one hanging transaction.",
        Risk.DESTRUCTIVE,
        "none: a marker stays, its records are aborted",
        _abort,
        _TRANSACTION,
    ),
    ChangeKind(
        "txn.complete",
        "Write the COMMIT marker that a coordinator skipped (KAFKA-20734).",
        Risk.DESTRUCTIVE,
        "none: a marker stays, its records are committed",
        _complete,
        _TRANSACTION,
    ),
    ChangeKind(
        "txn.fence",
        "Have the coordinator end what an id has open; its present producer is refused from then on.",
        Risk.DESTRUCTIVE,
        "none: the transaction is aborted; the application goes on when it initialises again",
        _fence,
        {"transactional_id": Parameter("The id")},
    ),
    ChangeKind(
        "leaders.elect",
        "Give partitions back to their first replica, where it is in sync.",
        Risk.SAFE,
        "stop the broker in order: its leaderships move away again",
        _elect,
        {"topic": Parameter("Only this topic", "")},
    ),
    ChangeKind(
        "feature.raise",
        "Finalize a higher level of a feature.",
        Risk.DISRUPTIVE,
        "kafka-features.sh downgrade, where the feature allows it (transaction.version does)",
        _raise_feature,
        {"feature": Parameter("Its name"), "level": Parameter("The level", is_number=True)},
    ),
    ChangeKind(
        "verification.enable",
        "Switch partition verification on for all brokers (KIP-890).",
        Risk.SAFE,
        "kafka-configs.sh --entity-type brokers --entity-default --alter "
        "--delete-config transaction.partition.verification.enable",
        _verify_partitions,
    ),
    ChangeKind(
        "group.move",
        "Move the positions of an empty group into the range of their partitions.",
        Risk.DESTRUCTIVE,
        "kafka-consumer-groups.sh --reset-offsets --to-offset with the offsets that the journal keeps",
        _move_positions,
        {"group": Parameter("The group's id")},
    ),
)

_BY_NAME: Final = {change.name: change for change in CHANGES}


def find_change(name: str) -> ChangeKind:
    """Return a change.

    Raises:
        UsageError: There is none of this name.
    """
    if name not in _BY_NAME:
        raise unknown_name("action", name, _BY_NAME, "See docs/runbooks/index.md")
    return _BY_NAME[name]
