"""What runbooks can do: each change is planned from the cluster's state, can be undone or says that it cannot."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from typing import Any, Final, Generic, Protocol, TypeVar

import msgspec
from msgspec.structs import asdict

from eosctl.actions.abort import Target, prepare_abort
from eosctl.actions.complete import prepare_complete
from eosctl.actions.feature import FEATURE, FeaturePlan, prepare_feature
from eosctl.actions.fence import FENCE, prepare_fence
from eosctl.actions.group_offsets import GROUP_OFFSETS, OffsetPlan, prepare_positions
from eosctl.actions.leaders import ELECTION, ElectionPlan, prepare_election
from eosctl.actions.marker import MARKER
from eosctl.actions.protocol import Action, Cluster
from eosctl.actions.verification import VERIFICATION, VerificationPlan, prepare_verification
from eosctl.analysis.minimal_access import Application, plan_access
from eosctl.analysis.own_access import EVERY_NAME, cluster_rule, own_rules, reading_rules
from eosctl.collect.audit_file import identify_fence
from eosctl.errors import unknown_name
from eosctl.model.access import ApplicationKind, NeededRule
from eosctl.model.evidence import EvidenceKind
from eosctl.model.plan import FenceOutcome, FencePlan, MarkerPlan
from eosctl.model.runbook import Value
from eosctl.model.transaction import TopicPartition
from eosctl.runbooks.probe_kind import Parameter, with_defaults
from eosctl.runbooks.readings import Arguments
from eosctl.text import count_text


class Risk(StrEnum):
    """What a change can cost."""

    SAFE = "safe"
    DISRUPTIVE = "disruptive"
    DESTRUCTIVE = "destructive"


class Outcome(Protocol):
    """What came of a change, as far as the change itself can show."""

    @property
    def verified(self) -> bool:
        """Whether the cluster shows it."""

    @property
    def detail(self) -> str:
        """A sentence for people."""


P = TypeVar("P")
R = TypeVar("R", bound=Outcome)


class ChangeKind(msgspec.Struct, Generic[P, R], frozen=True):
    """A change.

    Attributes:
        name: As runbooks call it.
        about: What it does, in one sentence.
        risk: What it can cost.
        rollback: How it is undone; ``none`` and why when it is not.
        prepare: Plans it; raises PlanRefused where the state does not allow it.
        summary: Says what a plan would do, after "It would".
        action: How a plan is sent and verified.
        access: The ACLs that it needs, with those of the evidence that a plan requires.
        parameters: Its arguments.
        identify: Returns what identifies the change in the cluster, for the audit file.
    """

    name: str
    about: str
    risk: Risk
    rollback: str
    prepare: Callable[[Cluster, Arguments], Awaitable[P]]
    summary: Callable[[P], str]
    action: Action[P, R]
    access: tuple[NeededRule, ...]
    parameters: Mapping[str, Parameter] = msgspec.field(default_factory=dict)
    identify: Callable[[R], Mapping[str, Value]] | None = None

    @property
    def reversible(self) -> bool:
        """Whether it can be undone."""
        return not self.rollback.startswith("none")

    async def plan(self, cluster: Cluster, arguments: Arguments) -> P:
        """Plan it; raises the errors of ``prepare``, and UsageError if an argument is not a number."""
        return await self.prepare(cluster, with_defaults(self.name, self.parameters, arguments))


def _target(given: Arguments) -> Target:
    partition = TopicPartition(str(given["topic"]), int(given["partition"]))
    return Target(partition, int(given["producer_id"]), int(given["first_offset"]))


async def _abort(cluster: Cluster, given: Arguments) -> MarkerPlan:
    return await prepare_abort(cluster, _target(given))


async def _complete(cluster: Cluster, given: Arguments) -> MarkerPlan:
    return await prepare_complete(cluster, _target(given))


def _marker(plan: MarkerPlan) -> str:
    kind = "COMMIT" if plan.committed else "ABORT"
    return (
        f"write the {kind} marker on {plan.partition} for producer id {plan.producer_id}, epoch {plan.producer_epoch}, "
        f"open since offset {plan.first_offset}"
    )


async def _fence(cluster: Cluster, given: Arguments) -> FencePlan:
    return await prepare_fence(cluster, str(given["transactional_id"]))


def _fence_identity(outcome: FenceOutcome) -> Mapping[str, Value]:
    return asdict(identify_fence(outcome))


def _transaction_of(plan: FencePlan) -> object:
    # A runbook decided on this very transaction: another one of the same id is a change.
    return FENCE.identity(plan), plan.transaction.start_time_ms


async def _elect(cluster: Cluster, given: Arguments) -> ElectionPlan:
    return await prepare_election(cluster, str(given["topic"]))


async def _raise_feature(cluster: Cluster, given: Arguments) -> FeaturePlan:
    return await prepare_feature(cluster, str(given["feature"]), int(given["level"]))


async def _enable_verification(cluster: Cluster, given: Arguments) -> VerificationPlan:
    return await prepare_verification(cluster)


def _verification(plan: VerificationPlan) -> str:
    ids = ", ".join(map(str, plan.broker_ids))
    return f"set transaction.partition.verification.enable=true (off on broker {ids})"


async def _move_positions(cluster: Cluster, given: Arguments) -> OffsetPlan:
    return await prepare_positions(cluster, str(given["group"]))


def _moves(plan: OffsetPlan) -> str:
    moves = "; ".join(f"{move.partition}: {move.offset_before} -> {move.offset}" for move in plan.moves[:5])
    more = f" and {len(plan.moves) - 5} more" if len(plan.moves) > 5 else ""
    return f"move positions of group {plan.group_id}: {moves}{more}"


_TRANSACTION: Final = {
    "topic": Parameter("Its topic"),
    "partition": Parameter("Its partition", is_number=True),
    "producer_id": Parameter("Its producer id", is_number=True),
    "first_offset": Parameter("Its first offset", is_number=True),
}

CHANGES: Final[tuple[ChangeKind[Any, Any], ...]] = (
    ChangeKind(
        name="txn.abort",
        about="Write the ABORT marker of one hanging transaction.",
        risk=Risk.DESTRUCTIVE,
        rollback="none: a marker stays, its records are aborted",
        prepare=_abort,
        summary=_marker,
        action=MARKER,
        access=own_rules(ApplicationKind.TXN_ABORT),
        parameters=_TRANSACTION,
    ),
    ChangeKind(
        name="txn.complete",
        about="Write the COMMIT marker that a coordinator skipped (KAFKA-20734).",
        risk=Risk.DESTRUCTIVE,
        rollback="none: a marker stays, its records are committed",
        prepare=_complete,
        summary=_marker,
        action=MARKER,
        access=own_rules(ApplicationKind.TXN_COMPLETE),
        parameters=_TRANSACTION,
    ),
    ChangeKind(
        name="txn.fence",
        about="Have the coordinator end what an id has open; its present producer is refused from then on.",
        risk=Risk.DESTRUCTIVE,
        rollback="none: the transaction is aborted; the application continues after it initializes again",
        prepare=_fence,
        summary=lambda plan: f"fence {plan.transaction.transactional_id}: {plan.consequence}",
        action=Action(_transaction_of, FENCE.send),
        access=own_rules(ApplicationKind.TXN_FENCE),
        parameters={"transactional_id": Parameter("The id")},
        identify=_fence_identity,
    ),
    ChangeKind(
        name="leaders.elect",
        about="Give partitions back to their first replica, where it is in sync.",
        risk=Risk.SAFE,
        rollback="stop the broker in order: its leaderships move away again",
        prepare=_elect,
        summary=lambda plan: f"elect the preferred leaders of {count_text(len(plan.partitions), 'partition')}",
        action=ELECTION,
        access=(*reading_rules({EvidenceKind.TOPICS}), cluster_rule("Alter", "ElectLeaders")),
        parameters={"topic": Parameter("Only this topic", "")},
    ),
    ChangeKind(
        name="feature.raise",
        about="Finalize a higher level of a feature.",
        risk=Risk.DISRUPTIVE,
        rollback="kafka-features.sh downgrade, where the feature allows it (transaction.version does)",
        prepare=_raise_feature,
        summary=lambda plan: f"raise {plan.feature} from {plan.level_before} to {plan.level}",
        action=FEATURE,
        access=(cluster_rule("Alter", "UpdateFeatures"),),
        parameters={"feature": Parameter("Its name"), "level": Parameter("The level", is_number=True)},
    ),
    ChangeKind(
        name="verification.enable",
        about="Switch partition verification on for all brokers (KIP-890).",
        risk=Risk.SAFE,
        rollback="kafka-configs.sh --entity-type brokers --entity-default --alter "
        "--delete-config transaction.partition.verification.enable",
        prepare=_enable_verification,
        summary=_verification,
        action=VERIFICATION,
        access=(cluster_rule("AlterConfigs", "IncrementalAlterConfigs"),),
    ),
    ChangeKind(
        name="group.move",
        about="Move the positions of an empty group into the range of their partitions.",
        risk=Risk.DESTRUCTIVE,
        rollback="kafka-consumer-groups.sh --reset-offsets --to-offset with the offsets that the journal keeps",
        prepare=_move_positions,
        summary=_moves,
        action=GROUP_OFFSETS,
        access=plan_access(Application(ApplicationKind.CONSUMER, "", group=EVERY_NAME, reads=(EVERY_NAME,))),
        parameters={"group": Parameter("The group's id")},
    ),
)

_BY_NAME: Final = {change.name: change for change in CHANGES}


def find_change(name: str) -> ChangeKind[Any, Any]:
    """Return a change.

    Raises:
        UsageError: No change has this name.
    """
    if name not in _BY_NAME:
        raise unknown_name("action", name, _BY_NAME, "See docs/runbooks/index.md")
    return _BY_NAME[name]


def change_costs() -> dict[str, str]:
    """Return the risk of each change and whether it can be undone, in words, by its name."""
    return {one.name: f"{one.risk.value}, {'reversible' if one.reversible else 'irreversible'}" for one in CHANGES}
