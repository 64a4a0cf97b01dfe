"""Reconcile a member with its target: revoke first, then take free tasks (`CurrentAssignmentBuilder`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from eosctl.sandbox.coordinator.group.consumer.request import RefusedError
from eosctl.sandbox.coordinator.group.streams.group import MemberState, StreamsMember
from eosctl.sandbox.coordinator.group.streams.tasks import NO_TASK_SETS, TaskId, TaskSets
from eosctl.wire.error_codes import ErrorCode

_NOWHERE: frozenset[str] = frozenset()


class TaskHolders(NamedTuple):
    """The processes whose members hold a task by role, or have not revoked it yet."""

    active: Mapping[TaskId, str]
    standby: Mapping[TaskId, frozenset[str]]
    warmup: Mapping[TaskId, frozenset[str]]


def find_holders(members: Iterable[StreamsMember]) -> TaskHolders:
    """Return the processes that hold the tasks of these members."""
    active: dict[TaskId, str] = {}
    standby: dict[TaskId, frozenset[str]] = defaultdict(frozenset)
    warmup: dict[TaskId, frozenset[str]] = defaultdict(frozenset)
    for member in members:
        held, process = member.held, member.process_id
        active |= dict.fromkeys(held.active, process)
        for task in held.standby:
            standby[task] |= {process}
        for task in held.warmup:
            warmup[task] |= {process}
    return TaskHolders(active, standby, warmup)


def reconcile(
    member: StreamsMember,
    target: TaskSets,
    target_epoch: int,
    holders: TaskHolders,
    owned: TaskSets | None,
    *,
    is_before_4_4: bool,
) -> StreamsMember:
    """Return the member after this heartbeat.

    Args:
        member: The member with its metadata already updated.
        target: Its target assignment.
        target_epoch: The epoch of the target assignment.
        holders: The processes that hold each task, this member's included.
        owned: Tasks that the member reports as its own; None if the heartbeat does not contain them.
        is_before_4_4: Whether a change of a task's role on one member takes a revocation, as in 4.3.

    Raises:
        RefusedError: FENCED_MEMBER_EPOCH, if the member's stored state is unknown to this release.
    """
    epoch = member.member_epoch
    match member.state:
        case MemberState.STABLE if epoch == target_epoch:
            return member
        case MemberState.UNREVOKED_TASKS:
            if _has_not_released(owned, member.pending_revocation):
                return member
            epoch += 1
        case MemberState.UNKNOWN:
            if owned is None or not owned.is_empty:
                raise RefusedError(
                    ErrorCode.FENCED_MEMBER_EPOCH,
                    "The streams group member is in a unknown state. The member must abandon all its tasks and rejoin.",
                )
            epoch = target_epoch
    step = _RoleChanges(member, target, holders) if not is_before_4_4 else _Step(member, target, holders)
    return step.take(epoch, target_epoch, owned)


class _Step:
    """The tasks to keep, to revoke, and to take, as 4.3 determines them."""

    def __init__(self, member: StreamsMember, target: TaskSets, holders: TaskHolders) -> None:
        self._member = member
        self._target = target
        self._holders = holders
        assigned = member.assigned
        self.kept = [set(mine & wanted) for mine, wanted in zip(assigned, target, strict=True)]
        self.revoked = [set(mine - wanted) for mine, wanted in zip(assigned, target, strict=True)]
        wanted = [wanted - mine for mine, wanted in zip(assigned, target, strict=True)]
        is_held = (self.is_active_held, self.is_standby_held, self.is_warmup_held)
        self.taken = [{task for task in tasks if not held(task)} for tasks, held in zip(wanted, is_held, strict=True)]
        self.waits = self.taken != wanted

    def is_active_held(self, task: TaskId) -> bool:
        """Return whether an active task must not be taken yet."""
        return task in self._holders.active or self._has_replica_here(task)

    def is_standby_held(self, task: TaskId) -> bool:
        """Return whether a standby task must not be taken yet."""
        return self._is_active_here(task) or self._has_replica_here(task)

    def is_warmup_held(self, task: TaskId) -> bool:
        """Return whether a warmup task must not be taken yet."""
        return self._is_active_here(task) or self._has_replica_here(task)

    def _is_active_here(self, task: TaskId) -> bool:
        return self._holders.active.get(task) == self._member.process_id

    def _has_replica_here(self, task: TaskId) -> bool:
        return self._is_here(self._holders.standby, task) or self._is_here(self._holders.warmup, task)

    def _is_here(self, holders: Mapping[TaskId, frozenset[str]], task: TaskId) -> bool:
        return self._member.process_id in holders.get(task, _NOWHERE)

    def take(self, epoch: int, target_epoch: int, owned: TaskSets | None) -> StreamsMember:
        """Return the member after the step; `epoch` is its epoch if it must revoke tasks first."""
        revoked = _sets(self.revoked)
        if not revoked.is_empty and _has_not_released(owned, revoked):
            return self._changed(MemberState.UNREVOKED_TASKS, epoch, _sets(self.kept), revoked, target_epoch)
        assigned = _sets([kept | taken for kept, taken in zip(self.kept, self.taken, strict=True)])
        state = MemberState.UNRELEASED_TASKS if self.waits else MemberState.STABLE
        return self._changed(state, target_epoch, assigned, NO_TASK_SETS, target_epoch)

    def _changed(
        self, state: MemberState, epoch: int, assigned: TaskSets, revoked: TaskSets, target_epoch: int
    ) -> StreamsMember:
        former = self._member
        epochs = {
            task: former.active_epochs.get(task, target_epoch) if task in former.assigned.active else target_epoch
            for task in assigned.active | revoked.active
        }
        return replace(
            former,
            state=state,
            member_epoch=epoch,
            previous_member_epoch=former.member_epoch,
            assigned=assigned,
            pending_revocation=revoked,
            active_epochs=former.active_epochs if epochs == former.active_epochs else epochs,
        )


class _RoleChanges(_Step):
    """4.4 changes the role of a task that a member already has without revoking it first."""

    def __init__(self, member: StreamsMember, target: TaskSets, holders: TaskHolders) -> None:
        super().__init__(member, target, holders)
        (_, kept_standby, kept_warmup), (_, revoked_standby, revoked_warmup) = self.kept, self.revoked
        _, taken_standby, taken_warmup = self.taken
        assigned = member.assigned
        still_revoked: set[TaskId] = set()
        for outgoing, left, incoming, kept in (
            (assigned.active, still_revoked, taken_standby, kept_standby),
            (assigned.standby, revoked_standby, taken_warmup, kept_warmup),
            (assigned.warmup, revoked_warmup, taken_standby, kept_standby),
        ):
            moved = outgoing & incoming
            incoming.difference_update(moved)
            kept.update(moved)
            left.difference_update(moved)
        revoked_standby.difference_update(target.active)
        revoked_warmup.difference_update(target.active)

    def is_active_held(self, task: TaskId) -> bool:
        """Return whether an active task must not be taken yet; own replicas of it do not count."""
        return task in self._holders.active or self._has_other_standby(task) or self._has_other_warmup(task)

    def is_standby_held(self, task: TaskId) -> bool:
        """Return whether a standby task must not be taken yet; own active or warmup tasks do not count."""
        is_active = self._is_active_here(task) and task not in self._member.assigned.active
        return is_active or self._is_here(self._holders.standby, task) or self._has_other_warmup(task)

    def is_warmup_held(self, task: TaskId) -> bool:
        """Return whether a warmup task must not be taken yet; the member's own standby task does not count."""
        return self._is_active_here(task) or self._has_other_standby(task) or self._is_here(self._holders.warmup, task)

    def _has_other_standby(self, task: TaskId) -> bool:
        return self._is_here(self._holders.standby, task) and task not in self._member.assigned.standby

    def _has_other_warmup(self, task: TaskId) -> bool:
        return self._is_here(self._holders.warmup, task) and task not in self._member.assigned.warmup

    def take(self, epoch: int, target_epoch: int, owned: TaskSets | None) -> StreamsMember:
        """Return the member after the step; a replica stays until its task becomes active here."""
        revoked = _sets(self.revoked)
        revokes = not revoked.is_empty and _has_not_released(owned, revoked)
        promoted = self._target.active - (set() if revokes else self.taken[0])
        for kept, mine in zip(self.kept[1:], self._member.assigned[1:], strict=True):
            kept.update(mine & promoted)
        return super().take(epoch, target_epoch, owned)


def _sets(roles: list[set[TaskId]]) -> TaskSets:
    active, standby, warmup = map(frozenset, roles)
    return TaskSets(active, standby, warmup)


def _has_not_released(owned: TaskSets | None, pending: TaskSets) -> bool:
    """Return whether the member may still own a task that it must revoke."""
    return owned is None or owned.shares(pending)
