"""Reconcile a member with its target: revoke first, then assign free partitions (`CurrentAssignmentBuilder`)."""

from __future__ import annotations

from dataclasses import replace

from eosctl.sandbox.coordinator.group.consumer.group import (
    NO_PARTITIONS,
    Assignment,
    ConsumerMember,
    MemberState,
)


def reconcile(
    member: ConsumerMember,
    target: Assignment,
    target_epoch: int,
    subscribed: Assignment,
    owned_by_others: Assignment,
    reported: Assignment | None,
    subscription_changed: bool,
) -> ConsumerMember:
    """Return the member after this heartbeat.

    Args:
        member: The member with its subscription already updated.
        target: Its target assignment.
        target_epoch: The epoch of the target assignment.
        subscribed: All partitions of the topics it subscribes to; others are revoked immediately.
        owned_by_others: Partitions that other members own or have not revoked yet.
        reported: Partitions that the member reports as owned; None if the heartbeat does not contain them.
        subscription_changed: Whether this heartbeat changed the subscription.
    """
    former = member
    reconciled = member.is_reconciled_to(target_epoch)
    waits = member.state is MemberState.UNREVOKED_PARTITIONS and _owns(reported, member.pending_revocation)
    if not (reconciled or waits):
        member = _next_assignment(member, target & subscribed, target_epoch, owned_by_others, reported)
    elif subscription_changed:
        member = _drop_unsubscribed(member, subscribed, reported)
    return member.with_assignment_epochs(former)


def _next_assignment(
    member: ConsumerMember,
    target: Assignment,
    target_epoch: int,
    owned_by_others: Assignment,
    reported: Assignment | None,
) -> ConsumerMember:
    kept = member.assigned & target
    revoked = member.assigned - kept
    wanted = target - kept
    free = wanted - owned_by_others
    if revoked and _owns(reported, revoked):
        same = member.at_epoch(member.member_epoch)
        return replace(same, state=MemberState.UNREVOKED_PARTITIONS, assigned=kept, pending_revocation=revoked)
    state = MemberState.STABLE if free == wanted else MemberState.UNRELEASED_PARTITIONS
    advanced = member.at_epoch(target_epoch)
    return replace(advanced, state=state, assigned=kept | free, pending_revocation=NO_PARTITIONS)


def _drop_unsubscribed(member: ConsumerMember, subscribed: Assignment, reported: Assignment | None) -> ConsumerMember:
    kept = member.assigned & subscribed
    if kept == member.assigned:
        return member
    revoked = member.pending_revocation | (member.assigned - kept)
    if _owns(reported, revoked):
        return replace(member, state=MemberState.UNREVOKED_PARTITIONS, assigned=kept, pending_revocation=revoked)
    return replace(member, assigned=kept)


def _owns(reported: Assignment | None, partitions: Assignment) -> bool:
    """Return whether the member may still own some of these; a member that does not report is assumed to."""
    return reported is None or not reported.isdisjoint(partitions)
