"""Leader epochs, compared with a list of the epoch of each offset."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from eosctl.sandbox.log.leader_epochs import EpochStart, LeaderEpochs

Runs = list[tuple[int, int]]  # (epoch step, records)
runs = st.lists(st.tuples(st.integers(1, 3), st.integers(1, 5)), min_size=1, max_size=8)


def build(given_runs: Runs) -> tuple[LeaderEpochs, list[int]]:
    epochs, written = LeaderEpochs(), []
    epoch = -1
    for step, count in given_runs:
        epoch += step
        epochs.assign(epoch, len(written))
        written += [epoch] * count
    return epochs, written


@given(runs, st.integers(-1, 30))
def test_end_offset_of_an_epoch(given_runs: Runs, asked: int) -> None:
    epochs, written = build(given_runs)
    end = len(written)
    known = sorted(set(written))
    if asked < 0 or asked > known[-1]:
        expected = (-1, -1)
    elif asked < known[0]:
        expected = (asked, 0)
    else:
        largest = max(epoch for epoch in known if epoch <= asked)
        expected = (largest, max(index for index, epoch in enumerate(written) if epoch == largest) + 1)
    assert epochs.end_offset_for(asked, end) == expected


@given(runs, st.data())
def test_epoch_of_an_offset(given_runs: Runs, data: st.DataObject) -> None:
    epochs, written = build(given_runs)
    offset = data.draw(st.integers(0, len(written) - 1))
    assert epochs.epoch_for_offset(offset) == written[offset]


@given(runs, st.data())
def test_truncating_either_end_keeps_the_rest(given_runs: Runs, data: st.DataObject) -> None:
    epochs, written = build(given_runs)
    end = data.draw(st.integers(0, len(written)))
    start = data.draw(st.integers(0, end))
    epochs.truncate_from_end(end)
    epochs.truncate_from_start(start)
    for offset in range(start, end):
        assert epochs.epoch_for_offset(offset) == written[offset]


def test_an_epoch_without_records_gives_way_to_its_successor() -> None:
    epochs = LeaderEpochs()
    epochs.assign(0, 0)
    epochs.assign(1, 0)
    assert epochs.entries == [EpochStart(1, 0)]
    epochs.assign(1, 7)  # known already
    assert epochs.entries == [EpochStart(1, 0)]
