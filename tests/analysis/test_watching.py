"""One state model for live views: the verdicts of ``txn hanging``, the worst first."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from eosctl.analysis.hanging import classify_open_transactions
from eosctl.analysis.watching import MADE_TOGETHER, OpenTransactions, observe
from eosctl.collect.reader import ReadOnly
from eosctl.collect.transactions import TransactionQuery, read_transactions
from eosctl.model.evidence import EvidenceKind
from eosctl.model.hang import HangStatus
from eosctl.model.snapshot import ClusterSnapshot, CommittedOffset, Group
from eosctl.model.transaction import Transaction
from eosctl.model.transaction_life import WatchedTransaction
from tests.analysis.scenes import (
    EVERYTHING,
    NOW_MS,
    ORDERS_0,
    ORDERS_1,
    gap,
    producer,
    snapshot,
    transaction,
    two_reads,
)
from tests.collect.transaction_world import BROKERS, CHANGES, World

WAITING = Group("app", 1, "Stable", offsets=(CommittedOffset(ORDERS_0, 40),))


def test_a_late_record_hangs_although_its_id_is_idle() -> None:
    seen = replace(two_reads([producer()], [transaction("CompleteCommit", partitions=())]), groups=(WAITING,))
    (row,) = observe(seen).transactions
    assert (row.status, row.partitions, row.first_offset, row.groups) == ("hanging", (ORDERS_0,), 40, ("app",))
    assert (row.age_ms, row.idle_ms) == (None, seen.captured_at_ms - NOW_MS + 5_000)
    assert (row.transactional_id, row.state, row.hidden_offsets) == ("app", "CompleteCommit", 60)
    assert observe(seen).unowned_count == 1


def test_live_views_agree_with_the_search_for_hanging_ones() -> None:
    seen = two_reads([producer(), producer(99)], [transaction()])
    hanging = [one for one in classify_open_transactions(seen) if one.status is HangStatus.HANGING]
    shown = [one for one in observe(seen).transactions if one.is_hanging]
    assert [one.transaction.producer_id for one in hanging] == [one.producer_id for one in shown] == [99]
    assert [one.status for one in observe(seen).transactions] == ["hanging", "open"]


def test_a_transaction_on_two_partitions_is_one_row() -> None:
    seen = two_reads([producer()], [transaction(partitions=(ORDERS_0, ORDERS_1))])
    (row,) = observe(seen).transactions
    assert (row.partitions, row.first_offset) == ((ORDERS_0, ORDERS_1), None)


def test_what_could_not_be_read_is_named() -> None:
    seen = two_reads([], [])
    broken = replace(seen, gaps=(gap(EvidenceKind.TRANSACTIONS, "broker 2"),))
    assert observe(seen).unread == ()
    assert observe(broken).unread == ("transactions: broker 2 NOT_COORDINATOR",)


#: Rows are made when they are read only where no groups were.
MANY = st.lists(CHANGES, max_size=4).map(lambda some: [change for each in some for change in each])
WITHOUT_GROUPS = EVERYTHING - {EvidenceKind.GROUP_OFFSETS}


def read(world: World, changes: list[list[tuple[str, str, object, int]]]) -> ClusterSnapshot:
    looks, gaps = [], []
    for some in changes:
        for change in some:
            world.step(*change)  # type: ignore[arg-type]
        reader, query = ReadOnly(world), TransactionQuery(describe_idle=False)
        one = asyncio.run(read_transactions(reader, BROKERS, world.infos(), lambda: world.now_ms, query))
        looks.append(one.value)
        gaps += one.gaps
    return snapshot(*looks, topics=world.topics(), gaps=tuple(gaps), collected=WITHOUT_GROUPS)


@settings(max_examples=60)
@given(st.lists(MANY, min_size=1, max_size=2), st.sampled_from([60_000, 900_000]))
def test_a_row_is_the_same_when_it_is_made_later(changes: list, timeout_ms: int) -> None:  # type: ignore[type-arg]
    world = World()
    world.timeout_ms = timeout_ms
    seen = read(world, changes)
    rows, complete = observe(seen), observe(replace(seen, collected=EVERYTHING))
    one_by_one: list[WatchedTransaction] = [
        rows.transactions[place] for place in reversed(range(len(rows.transactions)))
    ]
    assert one_by_one[::-1] == list(complete.transactions) == list(observe(seen).transactions)
    assert observe(seen).transactions[1:3] == complete.transactions[1:3]
    assert replace(rows, transactions=(), are_groups_read=True) == replace(complete, transactions=())


def test_rows_in_sight_alone_are_judged() -> None:
    asked: list[int] = []

    def made(transactions: Sequence[Transaction]) -> dict[str, WatchedTransaction]:
        asked.append(len(transactions))
        return {one.transactional_id: watched(one.transactional_id) for one in transactions}

    def watched(name: str) -> WatchedTransaction:
        return WatchedTransaction(name, "Ongoing", 1, 0, 0, 60_000, (), 0, "open")

    names = [str(number) for number in range(1_000)]
    rows = OpenTransactions([transaction(transactional_id=name) for name in names], made)
    assert (rows[0].transactional_id, rows[1].transactional_id, len(rows)) == ("0", "1", 1_000)
    assert asked == [MADE_TOGETHER]
    assert [row.transactional_id for row in rows] == names
    assert sum(asked) == 1_000
