"""What an open transaction holds up, in numbers."""

from __future__ import annotations

from msgspec.structs import replace

from eosctl.analysis.blast_radius import BlastRadiusFinder
from eosctl.analysis.hanging import classify_open_transactions
from eosctl.analysis.locate import coordinator_partition
from eosctl.analysis.lso import find_stable_offset_gaps
from eosctl.model.hang import BlastRadius, HangStatus, OpenTransaction
from eosctl.model.setting import Setting
from eosctl.model.snapshot import ClusterSnapshot, CommittedOffset, Group, PendingOffset, Topic
from eosctl.model.transaction import TopicPartition
from tests.analysis.scenes import (
    ORDERS_0,
    ORDERS_1,
    partition,
    producer,
    snapshot,
    state_topic,
    transaction,
    two_reads,
)

OFFSETS = "__consumer_offsets"


def radius_of(
    cluster: ClusterSnapshot, first_offset: int = 40, where: TopicPartition = ORDERS_0, producer_id: int = 7
) -> BlastRadius:
    opened = OpenTransaction(where, 1, producer_id, 0, 0, first_offset, 0)
    return BlastRadiusFinder(cluster).of(opened)


def group(name: str, offset: int | None, where: TopicPartition = ORDERS_0, *, unstable: bool = False) -> Group:
    return Group(name, 1, "Stable", "consumer", "classic", (), (CommittedOffset(where, offset, unstable=unstable),))


def with_settings(cluster: ClusterSnapshot, **settings: str) -> ClusterSnapshot:
    values = tuple(Setting(name.replace("_", "."), value) for name, value in settings.items())
    return replace(cluster, topics=(replace(cluster.topics[0], settings=values), *cluster.topics[1:]))


def test_invisible_offsets_end_at_the_high_watermark() -> None:
    assert radius_of(two_reads([producer()])).invisible_offsets == 60
    assert radius_of(two_reads([producer()]), first_offset=100).invisible_offsets == 0
    assert radius_of(two_reads([producer()], topics=())).invisible_offsets is None


def test_only_the_oldest_transaction_pins_the_offset() -> None:
    cluster = two_reads([producer(7, since=40), producer(8, since=60)])
    assert radius_of(cluster, 40).pins_last_stable_offset
    assert not radius_of(cluster, 60).pins_last_stable_offset


def test_readers_at_or_before_the_stable_offset_are_held_up() -> None:
    cluster = two_reads([producer()], groups=(group("waiting", 40), group("behind", 12), group("uncommitted", 70),
                                              group("new", None), group("elsewhere", 40, ORDERS_1)))  # fmt: skip
    held = {g.group_id: g.invisible_offsets for g in radius_of(cluster).groups}
    assert held == {"waiting": 60, "behind": 60}


def test_compacted_topics_stop_being_compacted() -> None:
    cluster = two_reads([producer()])
    assert not radius_of(with_settings(cluster, cleanup_policy="delete")).blocks_compaction
    assert radius_of(with_settings(cluster, cleanup_policy="compact")).blocks_compaction
    assert radius_of(with_settings(cluster, cleanup_policy="compact,delete")).blocks_compaction


def test_offset_commits_name_the_groups_that_wait_for_them() -> None:
    home = coordinator_partition(OFFSETS, "billing", 4)
    topic = Topic(OFFSETS, "offsets", True, tuple(partition(TopicPartition(OFFSETS, i)) for i in range(4)))
    cluster = two_reads(
        [producer()],
        topics=(topic, state_topic()),
        groups=(group("billing", 2, unstable=True), group("calm", 2)),
    )
    radius = radius_of(cluster, where=home)
    assert radius.blocks_offset_commits
    assert radius.blocks_compaction
    assert [g.group_id for g in radius.groups] == ["billing"]
    other = TopicPartition(OFFSETS, (home.partition + 1) % 4)
    assert radius_of(cluster, where=other).groups == ()


def test_a_group_waits_for_the_producer_of_its_pending_offsets() -> None:
    home = coordinator_partition(OFFSETS, "billing", 4)
    topic = Topic(OFFSETS, "offsets", True, tuple(partition(TopicPartition(OFFSETS, i)) for i in range(4)))
    pending = PendingOffset("billing", ORDERS_0, 9, 7, home.partition, 40)
    cluster = two_reads(
        [producer(7), producer(8)],
        topics=(topic, state_topic()),
        groups=(group("billing", 2, unstable=True),),
        pending_offsets=(pending, replace(pending, group_id="new", producer_id=8)),
    )
    for producer_id, held in ((7, ("billing", 2)), (8, ("new", 0))):
        radius = radius_of(cluster, where=home, producer_id=producer_id)
        assert [(found.group_id, found.committed_offset) for found in radius.groups] == [held]


def test_gaps_name_the_oldest_holder_and_come_widest_first() -> None:
    cluster = two_reads([producer(7, since=40), producer(8, since=60)], [transaction()])
    orders = replace(
        cluster.topics[0],
        partitions=(partition(ORDERS_0), partition(ORDERS_1, last_stable_offset=10, high_watermark=500)),
    )
    cluster = replace(cluster, topics=(orders, cluster.topics[1]))
    gaps = find_stable_offset_gaps(cluster, classify_open_transactions(cluster))
    assert [(gap.partition, gap.offsets) for gap in gaps] == [(ORDERS_1, 490), (ORDERS_0, 60)]
    assert gaps[0].holder is None
    assert gaps[1].holder is not None
    assert gaps[1].holder.transaction.producer_id == 7
    assert gaps[1].holder.status is HangStatus.OPEN


def test_no_gap_without_offsets() -> None:
    bare = Topic("orders", "id", False, (partition(high_watermark=None), partition(ORDERS_1, last_stable_offset=100)))
    assert find_stable_offset_gaps(snapshot(topics=(bare,)), ()) == ()
