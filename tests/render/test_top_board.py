"""The text of the live view: worst rows first, a filter, and no all-clear for what was not read."""

from __future__ import annotations

import time

from msgspec.structs import replace

from eosctl.model.transaction import TopicPartition
from eosctl.model.transaction_life import Moment, WatchedBroker, WatchedTransaction
from eosctl.render.page import Style
from eosctl.render.top.board import board, details, empty_line, head_lines, render_board, unread_line

ORDERS = TopicPartition("orders", 2)
HANGING = WatchedTransaction(
    "app-1", "CompleteCommit", 7, 3, None, 60_000, (ORDERS,), 12, "hanging", "No coordinator.", ("billing",), 40
)
OPEN = WatchedTransaction("shop", "Ongoing", 8, 0, 5_000, 60_000, (ORDERS, TopicPartition("sums", 0)), 3, "open")
BROKERS = (WatchedBroker(1, "up", 2), WatchedBroker(2, "no answer", 0))
MOMENT = Moment(1_800_000_000_000, 2, 15, (HANGING, OPEN), 1, 0, "cluster", 1, BROKERS)
UNREAD = replace(MOMENT, transactions=(), unread=("producers: broker 2 unreachable", "a: b", "c: d"))


def test_a_row_has_what_decides() -> None:
    wide = board(MOMENT, wide=True).row(0)
    narrow = board(MOMENT).row(1)
    assert wide == ("hanging", "-", "app-1", "orders-2", "12", "billing", "CompleteCommit", "7/3", "1 min")
    assert narrow == ("open", "5 s", "shop", "orders-2, sums-0", "3", "-")


def test_the_filter_reads_all_names() -> None:
    for wanted, keys in (("BILL", ["app-1"]), ("sums", ["shop"]), ("orders-2", ["app-1", "shop"]), ("nothing", [])):
        assert [one.transactional_id for one in board(MOMENT, wanted=wanted).shown] == keys
    assert empty_line(MOMENT, board(MOMENT, wanted="nothing")) == "None of 2 transactions matches the filter."


def test_what_was_not_read_is_never_an_all_clear() -> None:
    assert unread_line(UNREAD) == "NOT READ: producers: broker 2 unreachable; a: b; and 1 more"
    assert empty_line(UNREAD, board(UNREAD)) == "No transaction is open in what was read; the rest is unknown."
    assert empty_line(None, None) == "Reading the cluster ..."
    calm = replace(UNREAD, unread=())
    assert empty_line(calm, board(calm)) == "No transaction is open."
    assert "NOT READ" in render_board(UNREAD, 10)
    assert "NOT READ" not in render_board(calm, 10)


def test_the_head_names_brokers_that_do_not_answer() -> None:
    first, second = head_lines(MOMENT)
    assert first == "cluster  controller 1  brokers: 1 up (2 ids), 2 no answer (0 ids)"
    alone = replace(MOMENT, brokers=(replace(MOMENT.brokers[0], coordinated_count=1),))
    assert head_lines(alone)[0].endswith("brokers: 1 up (1 id)")
    assert "2 open transactions, 1 hanging, 2 ids, 15 offsets hidden, 1 group waiting" in second
    assert "waiting" not in head_lines(replace(MOMENT, are_groups_read=False))[1]
    assert "controller unknown" in head_lines(replace(MOMENT, controller_id=None))[0]


def test_details_name_offset_groups_and_reason() -> None:
    text = details(HANGING)
    for words in ("app-1: hanging", "No coordinator.", "offset 40", "billing", "id 7, epoch 3", "- of 1 min"):
        assert words in text
    assert "> 5 min of 1 min" in details(replace(HANGING, idle_ms=300_000))
    assert "offset" not in details(OPEN).replace("3 offsets", "")


def test_a_frame_fits_its_width_and_hides_control_characters() -> None:
    hostile = replace(MOMENT, transactions=(replace(OPEN, transactional_id="a\x1b[31m" + "x" * 200),))
    text = render_board(hostile, 10, Style(width=80))
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" not in text


def test_ten_thousand_transactions_stay_cheap() -> None:
    many = replace(MOMENT, transactions=tuple(replace(OPEN, producer_id=number) for number in range(10_000)))
    before = time.process_time()
    shown = board(many, wanted="shop", wide=True)
    # A hundredth of a core at a reading every five seconds is 50 ms; a slow machine gets ten times that.
    assert time.process_time() - before < 0.5
    assert (len(shown.shown), shown.total) == (10_000, 10_000)
    assert "and 9,990 more" in render_board(many, 10)
