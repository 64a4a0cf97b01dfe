"""The assignor `simple`: every partition has a member, every member a partition, and few assignments move."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from eosctl.sandbox.coordinator.group.consumer.group import TopicIdPartition
from eosctl.sandbox.coordinator.group.share.assignor import assign_simple

IDS = {"a": b"a" * 16, "b": b"b" * 16}
MEMBERS = st.dictionaries(
    st.sampled_from(["m1", "m2", "m3", "m4", "m5"]),
    st.frozensets(st.sampled_from(["a", "b"]), min_size=1),
    min_size=1,
)
COUNTS = st.fixed_dictionaries({"a": st.integers(0, 4), "b": st.integers(0, 4)})


@given(MEMBERS, COUNTS, MEMBERS)
def test_all_is_assigned_and_stays(
    subscriptions: dict[str, frozenset[str]], counts: dict[str, int], before: dict[str, frozenset[str]]
) -> None:
    partitions = {topic: [TopicIdPartition(IDS[topic], index) for index in range(counts[topic])] for topic in counts}
    target = assign_simple(subscriptions, partitions, assign_simple(before, partitions, {}))
    for topic, parts in partitions.items():
        takers = [member for member, topics in subscriptions.items() if topic in topics]
        for part in parts:
            assert not takers or any(part in target[member] for member in takers)
        if parts and len(set(subscriptions.values())) > 1:
            assert all(set(parts) & target[member] for member in takers)
    for member, assigned in target.items():
        allowed = {part for topic in subscriptions[member] for part in partitions[topic]}
        assert assigned <= allowed
        assert assigned or not allowed
    assert assign_simple(subscriptions, partitions, target) == target
