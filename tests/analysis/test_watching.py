"""One state model for live views: the verdicts of ``txn hanging``, the worst first."""

from __future__ import annotations

from msgspec.structs import replace

from eosctl.analysis.hanging import classify_open_transactions
from eosctl.analysis.watching import observe
from eosctl.model.evidence import EvidenceKind
from eosctl.model.hang import HangStatus
from eosctl.model.snapshot import CommittedOffset, Group
from tests.analysis.scenes import NOW_MS, ORDERS_0, ORDERS_1, gap, producer, transaction, two_reads

WAITING = Group("app", 1, "Stable", offsets=(CommittedOffset(ORDERS_0, 40),))


def test_a_late_record_hangs_although_its_id_is_idle() -> None:
    snapshot = replace(two_reads([producer()], [transaction("CompleteCommit", partitions=())]), groups=(WAITING,))
    (row,) = observe(snapshot).transactions
    assert (row.status, row.partitions, row.first_offset, row.groups) == ("hanging", (ORDERS_0,), 40, ("app",))
    assert (row.age_ms, row.idle_ms) == (None, snapshot.captured_at_ms - NOW_MS + 5_000)
    assert (row.transactional_id, row.state, row.hidden_offsets) == ("app", "CompleteCommit", 60)
    assert observe(snapshot).unowned_count == 1


def test_live_views_agree_with_the_search_for_hanging_ones() -> None:
    snapshot = two_reads([producer(), producer(99)], [transaction()])
    hanging = [one for one in classify_open_transactions(snapshot) if one.status is HangStatus.HANGING]
    shown = [one for one in observe(snapshot).transactions if one.is_hanging]
    assert [one.transaction.producer_id for one in hanging] == [one.producer_id for one in shown] == [99]
    assert [one.status for one in observe(snapshot).transactions] == ["hanging", "open"]


def test_a_transaction_on_two_partitions_is_one_row() -> None:
    snapshot = two_reads([producer()], [transaction(partitions=(ORDERS_0, ORDERS_1))])
    (row,) = observe(snapshot).transactions
    assert (row.partitions, row.first_offset) == ((ORDERS_0, ORDERS_1), None)


def test_what_could_not_be_read_is_named() -> None:
    snapshot = two_reads([], [])
    broken = replace(snapshot, gaps=(gap(EvidenceKind.TRANSACTIONS, "broker 2"),))
    assert observe(snapshot).unread == ()
    assert observe(broken).unread == ("transactions: broker 2 NOT_COORDINATOR",)
