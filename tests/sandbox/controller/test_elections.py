"""Elections as pure decisions: who leads after a broker went or came."""

from __future__ import annotations

import pytest

from eosctl.sandbox.controller.elections import Election, add_broker, elect_leader, partitions_with, remove_replicas
from eosctl.sandbox.metadata.image import ClusterImage, ImageDelta, PartitionState
from eosctl.sandbox.metadata.replay import merge_change, replay
from eosctl.wire.messages.internal.metadata.partition_change_record import PartitionChangeRecord
from eosctl.wire.messages.internal.metadata.partition_record import PartitionRecord
from eosctl.wire.messages.internal.metadata.topic_record import TopicRecord

TOPIC_ID = bytes(range(16))
ALL = frozenset({1, 2, 3})


def state(leader: int = 1, isr: tuple[int, ...] = (1, 2, 3), elr: tuple[int, ...] = ()) -> PartitionState:
    return PartitionState((1, 2, 3), isr, leader, 4, 9, eligible_leader_replicas=elr)


def image_with(partition: PartitionState) -> ClusterImage:
    image, delta = ClusterImage(), ImageDelta()
    replay(image, TopicRecord("orders", TOPIC_ID), delta)
    replay(image, PartitionRecord(0, TOPIC_ID), delta)
    image.topics["orders"].partitions[0] = partition
    return image


@pytest.mark.parametrize(
    ("partition", "active", "unclean", "expected"),
    [
        (state(), ALL, False, Election(1, False)),
        (state(), {2, 3}, False, Election(2, False)),
        (state(isr=(3, 2)), {2, 3}, False, Election(2, False)),  # in order of assignment, not of the ISR
        (state(isr=(1,)), {2, 3}, False, Election(-1, False)),
        (state(isr=(1,)), {2, 3}, True, Election(2, True)),
        (state(isr=(1,), elr=(3,)), {2, 3}, False, Election(3, False)),
        (state(isr=(1,), elr=(3,)), {2, 3}, True, Election(3, False)),
        (state(), set(), True, Election(-1, False)),
    ],
)
def test_choosing_a_leader(partition: PartitionState, active: set[int], unclean: bool, expected: Election) -> None:
    assert elect_leader(partition, active.__contains__, allow_unclean=unclean) == expected


def test_the_preferred_replica_is_elected_when_it_is_in_sync() -> None:
    assert elect_leader(state(leader=3), ALL.__contains__, allow_unclean=False, prefer_first=True).leader == 1
    behind = state(leader=3, isr=(2, 3))
    assert elect_leader(behind, ALL.__contains__, allow_unclean=False, prefer_first=True).leader == 3


def after_removal(
    partition: PartitionState,
    broker: int,
    active: set[int],
    *,
    unclean: bool = False,
    min_isr: int = 1,
    elr: bool,
    crashed: bool = False,
) -> PartitionState:
    image = image_with(partition)
    (record,) = remove_replicas(
        image,
        broker,
        partitions_with(image, broker),
        active.__contains__,
        lambda _: unclean,
        lambda _: min_isr,
        eligible_replicas=elr,
        unclean=crashed,
    )
    replay(image, record, ImageDelta())
    return image.topics["orders"].partitions[0]


def test_a_fenced_leader_hands_over() -> None:
    changed = after_removal(state(), 1, {2, 3}, elr=False)
    assert (changed.leader, changed.isr, changed.leader_epoch, changed.partition_epoch) == (2, (2, 3), 5, 10)


def test_a_fenced_follower_leaves_the_isr_in_the_same_epoch() -> None:
    changed = after_removal(state(), 3, {1, 2}, elr=False)
    assert (changed.leader, changed.isr, changed.leader_epoch, changed.partition_epoch) == (1, (1, 2), 4, 10)


def test_the_last_in_sync_replica_stays_in_the_isr() -> None:
    changed = after_removal(state(isr=(1,)), 1, {2, 3}, elr=False)
    assert (changed.leader, changed.isr) == (-1, (1,))


def test_with_eligible_leader_replicas_it_moves_there() -> None:
    changed = after_removal(state(isr=(1,)), 1, {2, 3}, elr=True)
    assert (changed.leader, changed.isr, changed.eligible_leader_replicas) == (-1, (), (1,))
    # Two members and a minimum of two: who leaves remains eligible.
    changed = after_removal(state(isr=(1, 2)), 2, {1, 3}, min_isr=2, elr=True)
    assert (changed.leader, changed.isr, changed.eligible_leader_replicas) == (1, (1,), (2,))


def test_unclean_election_takes_any_living_replica() -> None:
    changed = after_removal(state(isr=(1,)), 1, {3}, unclean=True, elr=False)
    assert (changed.leader, changed.isr) == (3, (3,))


def test_a_returning_broker_leads_what_has_no_leader() -> None:
    image = image_with(state(leader=-1, isr=(1,)))
    (record,) = add_broker(image, 1, {2, 3}.__contains__, lambda _: False)
    replay(image, record, ImageDelta())
    changed = image.topics["orders"].partitions[0]
    assert (changed.leader, changed.leader_epoch) == (1, 5)
    assert add_broker(image, 2, ALL.__contains__, lambda _: False) == []


def test_only_setting_a_leader_starts_a_new_epoch() -> None:
    assert merge_change(state(), PartitionChangeRecord(0, TOPIC_ID, leader=1)).leader_epoch == 5
    assert merge_change(state(), PartitionChangeRecord(0, TOPIC_ID, isr=[1])).leader_epoch == 4


def test_the_last_leader_is_remembered_until_an_election() -> None:
    """KIP-966; PartitionChangeBuilder.maybeUpdateLastKnownLeader of 4.3."""
    leaderless = after_removal(state(isr=(1,)), 1, {2, 3}, elr=True)
    assert (leaderless.leader, leaderless.last_known_elr) == (-1, (1,))
    assert after_removal(state(isr=(1,)), 1, {2, 3}, elr=False).last_known_elr == ()
    image = image_with(leaderless)
    (record,) = add_broker(image, 1, {2, 3}.__contains__, lambda _: False)
    replay(image, record, ImageDelta())
    back = image.topics["orders"].partitions[0]
    assert (back.leader, back.isr, back.eligible_leader_replicas, back.last_known_elr) == (1, (1,), (), ())


def test_after_unclean_shutdowns_only_the_last_leader_returns() -> None:
    lost = after_removal(state(isr=(1,)), 1, {2, 3}, elr=True, crashed=True)
    assert (lost.leader, lost.isr, lost.eligible_leader_replicas, lost.last_known_elr) == (-1, (), (), (1,))
    image = image_with(lost)
    assert add_broker(image, 2, {2, 3}.__contains__, lambda _: False) == []
    (record,) = add_broker(image, 1, {2, 3}.__contains__, lambda _: False)
    replay(image, record, ImageDelta())
    assert (image.topics["orders"].partitions[0].leader, image.topics["orders"].partitions[0].isr) == (1, (1,))
    # One of several eligible ones goes, the leader stays.
    kept = after_removal(state(isr=(1,), elr=(2, 3)), 2, {1, 3}, min_isr=3, elr=True, crashed=True)
    assert (kept.leader, kept.eligible_leader_replicas, kept.last_known_elr) == (1, (3,), ())
