"""A committed offset outside of its log is not taken for a group without lag."""

from __future__ import annotations

import pytest

from eosctl.analysis.lag import measure_lag
from eosctl.model.snapshot import ClusterSnapshot, CommittedOffset, Group, PartitionInfo, Topic
from eosctl.model.transaction import TopicPartition

ORDERS = TopicPartition("orders", 0)


@pytest.mark.parametrize(
    ("committed", "expected"), [(3, (10, 37, 0)), (40, (10, 0, 0)), (50, (0, 0, 0)), (53, (0, 0, 3))]
)
def test_positions_outside_of_the_log(committed: int, expected: tuple[int, int, int]) -> None:
    info = PartitionInfo(ORDERS, 1, 0, (1,), (1,), log_start_offset=40, high_watermark=50, last_stable_offset=50)
    group = Group("g", 1, "Empty", offsets=(CommittedOffset(ORDERS, committed),))
    snapshot = ClusterSnapshot(0, "c", topics=(Topic("orders", "", False, (info,)),), groups=(group,))
    (lag,) = measure_lag(snapshot, ())
    assert (lag.lag_offsets, lag.deleted_offsets, lag.beyond_end_offsets) == expected
