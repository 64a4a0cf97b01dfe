"""Combined state batches have, for each offset, the latest of the given states."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from eosctl.sandbox.coordinator.share.state import NO_OFFSET, StateBatch, combine_batches, parse_key

BATCHES = st.lists(
    st.builds(
        lambda first, length, state, count: StateBatch(first, first + length, state, count),
        st.integers(0, 20),
        st.integers(0, 8),
        st.sampled_from([0, 2, 4]),
        st.integers(1, 3),
    ),
    max_size=7,
)


def states_by_offset(batches: list[StateBatch], start_offset: int) -> dict[int, tuple[int, int]]:
    """Return (delivery count, state) of each offset; the highest is the latest."""
    states: dict[int, tuple[int, int]] = {}
    for batch in batches:
        for offset in range(max(batch.first_offset, start_offset), batch.last_offset + 1):
            states[offset] = max(states.get(offset, (0, 0)), (batch.delivery_count, batch.delivery_state))
    return states


@given(BATCHES, st.sampled_from([NO_OFFSET, 0, 5, 12]))
def test_every_offset_has_its_latest_state(batches: list[StateBatch], start_offset: int) -> None:
    combined = combine_batches(batches, start_offset)
    assert states_by_offset(list(combined), NO_OFFSET) == states_by_offset(batches, start_offset)
    for before, after in pairwise(combined):
        assert before.last_offset < after.first_offset
        assert before.last_offset + 1 < after.first_offset or before[2:] != after[2:]


def test_keys_are_read_as_kafka_reads_them() -> None:
    key = parse_key("a:b:AAAAAAAAAAAAAAAAAAAAAQ:3")
    assert key is not None
    assert (key.group_id, key.partition, str(key)) == ("a:b", 3, "a:b:AAAAAAAAAAAAAAAAAAAAAQ:3")
    for text in (
        "",
        "g",
        "g:AAAAAAAAAAAAAAAAAAAAAQ",
        " :AAAAAAAAAAAAAAAAAAAAAQ:0",
        "g:zzz:0",
        "g:AAAAAAAAAAAAAAAAAAAAAQ:x",
    ):
        assert parse_key(text) is None
