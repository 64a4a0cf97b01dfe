"""What a read_committed consumer shows, against an oracle that knows how every transaction ended."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.client.visibility import AbortedRange, visible_batches
from eosctl.wire.errors import WireError
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.control import EndTxnMarker, encode_marker_batch
from eosctl.wire.records.record import Record


@dataclass
class Partition:
    """A partition's log as a leader keeps it, with the fate of every record."""

    batches: list[tuple[int, bytes]] = field(default_factory=list)
    end: int = 0
    committed: set[int] = field(default_factory=set)
    open: dict[int, list[int]] = field(default_factory=dict)
    aborted: list[tuple[int, int, int]] = field(default_factory=list)  # producer id, first and last offset

    def append(self, producer_id: int | None, count: int) -> None:
        records = [Record(0, 1, None, str(self.end + n).encode()) for n in range(count)]
        transactional = producer_id is not None
        batch = encode_batch(
            records,
            base_offset=self.end,
            producer_id=producer_id if transactional else -1,
            producer_epoch=0 if transactional else -1,
            base_sequence=0 if transactional else -1,
            transactional=transactional,
        )
        offsets = range(self.end, self.end + count)
        if producer_id is None:
            self.committed |= set(offsets)
        else:
            self.open.setdefault(producer_id, []).extend(offsets)
        self.batches.append((self.end, batch))
        self.end += count

    def finish(self, producer_id: int, committed: bool) -> None:
        offsets = self.open.pop(producer_id, [])
        marker = encode_marker_batch(EndTxnMarker(committed, 0), producer_id, 0, 1, base_offset=self.end)
        self.batches.append((self.end, marker))
        if committed:
            self.committed |= set(offsets)
        elif offsets:
            self.aborted.append((producer_id, offsets[0], self.end))
        self.end += 1

    @property
    def last_stable_offset(self) -> int:
        return min((offsets[0] for offsets in self.open.values()), default=self.end)

    def fetch(self, offset: int, committed_only: bool) -> tuple[bytes, list[AbortedRange] | None]:
        """Answer as a leader does: whole batches from the one with the offset, and the aborted ones in the range."""
        limit = self.last_stable_offset if committed_only else self.end
        first = max((at for at, _ in self.batches if at <= offset), default=0)
        data = b"".join(batch for at, batch in self.batches if first <= at < limit)
        if not committed_only:
            return data, None
        return data, [AbortedRange(begin, pid) for pid, begin, last in self.aborted if last >= offset and begin < limit]


actions = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from([None, 1, 2, 3]), st.integers(1, 3)),
        st.tuples(st.just("end"), st.sampled_from([1, 2, 3]), st.booleans()),
    ),
    max_size=30,
)


def build(history: list[tuple[str, int | None, int]]) -> Partition:
    partition = Partition()
    for kind, producer_id, argument in history:
        if kind == "write":
            partition.append(producer_id, argument)
        elif producer_id is not None:
            partition.finish(producer_id, bool(argument))
    return partition


@given(actions, st.data())
def test_read_committed_shows_committed_records_below_the_lso(
    history: list[tuple[str, int | None, int]], data: st.DataObject
) -> None:
    partition = build(history)
    offset = data.draw(st.integers(0, partition.last_stable_offset))
    batches = list(visible_batches(*_order(partition.fetch(offset, True), offset)))
    shown = [record.offset for batch in batches for record in batch.records]
    assert shown == sorted(o for o in partition.committed if offset <= o < partition.last_stable_offset)
    if batches:
        assert batches[-1].next_offset == partition.last_stable_offset


@given(actions)
def test_read_uncommitted_shows_every_record_but_no_marker(history: list[tuple[str, int | None, int]]) -> None:
    partition = build(history)
    shown = [r.offset for batch in visible_batches(*_order(partition.fetch(0, False), 0)) for r in batch.records]
    lost = {o for _, begin, last in partition.aborted for o in range(begin, last)}
    still_open = {o for offsets in partition.open.values() for o in offsets}
    assert set(shown) >= partition.committed | still_open
    assert set(shown) <= partition.committed | still_open | lost


def _order(
    answer: tuple[bytes, list[AbortedRange] | None], offset: int
) -> tuple[bytes, int, list[AbortedRange] | None]:
    return answer[0], offset, answer[1]


def test_a_batch_that_is_not_whole_is_left_for_the_next_fetch() -> None:
    partition = build([("write", None, 2), ("write", None, 2)])
    data, _ = partition.fetch(0, False)
    batches = list(visible_batches(data[:-1], 0, None))
    assert [batch.next_offset for batch in batches] == [2]


def test_a_damaged_batch_is_reported_with_its_offset() -> None:
    partition = build([("write", None, 2), ("write", None, 1)])
    data, _ = partition.fetch(0, False)
    damaged = data[:-1] + bytes([data[-1] ^ 1])
    with pytest.raises(WireError, match="offset 2 has a wrong checksum"):
        list(visible_batches(damaged, 0, None))
