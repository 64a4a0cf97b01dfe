"""``txn watch``: one frame per reading, with the history of previous readings."""

from __future__ import annotations

import json
from threading import Event

import pytest

from eosctl.analysis.watching import observe
from eosctl.errors import EosctlError
from eosctl.model.transaction_life import Moment
from eosctl.render.transactions.watch import render_frame, sparkline
from eosctl.services.callbacks import Callbacks, system_now_ms
from eosctl.services.connection import Connection
from eosctl.services.watch_transactions import (
    Pace,
    TransactionWatchRequest,
    keep_watching,
    pause_ms,
    watch_transactions,
)
from eosctl.testing import SandboxThread
from tests.analysis.scenes import producer, transaction, two_reads
from tests.commands.conftest import eosctl
from tests.commands.group.test_groups import commit_offset
from tests.commands.open_transactions import leave_open, on


def test_what_is_open_is_counted_with_what_it_hides(one_broker: SandboxThread) -> None:
    on(one_broker.bootstrap, lambda client: leave_open(client, "shop-0"))
    done = eosctl("txn", "watch", "--count", "2", "--interval", "10ms", "-b", one_broker.bootstrap, "-o", "json")
    assert done.code == 0, done.err
    first, second = [json.loads(line) for line in done.out.splitlines()]
    assert (second["open_count"], second["hidden_offsets"], second["unowned_open_count"]) == (1, 2, 0)
    assert second["transactions"][0]["transactional_id"] == "shop-0"
    assert second["at"] >= first["at"]
    table = eosctl("txn", "watch", "--count", "1", "-b", one_broker.bootstrap)
    assert "shop-0" in table.out
    assert eosctl("txn", "watch", "--count", "1", "-b", one_broker.bootstrap, "-o", "yaml").code == 2


def test_what_is_listed_can_be_narrowed(one_broker: SandboxThread) -> None:
    one = on(one_broker.bootstrap, lambda client: leave_open(client, "shop-1"))
    other = on(one_broker.bootstrap, lambda client: leave_open(client, "shop-2"))

    def listed(*filters: str) -> list[str]:
        done = eosctl("txn", "list", "-b", one_broker.bootstrap, "-o", "json", *filters)
        assert done.code == 0, done.err
        return [item["transactional_id"] for item in done.json["items"]]

    assert sorted(listed("--state", "ongoing", "--running-longer-than", "1ms")) == ["shop-1", "shop-2"]
    assert listed("--running-longer-than", "2h") == []
    assert listed("--producer-id", str(one.producer_id), "--open") == ["shop-1"]
    assert len(listed("--producer-id", str(one.producer_id), "--producer-id", str(other.producer_id))) == 2
    assert listed("--state", "Empty", "--state", "CompleteAbort") == []


def test_a_frame_shows_the_course_and_cuts_long_tables() -> None:
    calm = observe(two_reads([], [transaction("Empty")]))
    busy = observe(
        two_reads([producer(), producer(99)], [transaction(), transaction(transactional_id="b", producer_id=8)])
    )
    assert (len(calm.transactions), len(busy.transactions), busy.unowned_count) == (0, 3, 1)
    text = render_frame([calm, busy], 1)
    assert "▁█" in text
    assert "and 2 more" in text
    assert "eosctl txn hanging" in text
    assert "\x1b" not in text


def test_bars_go_from_zero_to_the_largest() -> None:
    assert sparkline([]) == ""
    assert sparkline([0, 0]) == "▁▁"
    assert sparkline([5, 10], width=1) == "█"


def test_top_prints_readings_without_a_terminal(one_broker: SandboxThread) -> None:
    on(one_broker.bootstrap, lambda client: leave_open(client, "shop-top"))
    done = eosctl("top", "--count", "1", "-b", one_broker.bootstrap)
    assert (done.code, "shop-top" in done.out, "NOT READ" in done.out) == (0, True, False)
    line = eosctl("top", "--count", "1", "-b", one_broker.bootstrap, "-o", "json")
    assert "shop-top" in [one["transactional_id"] for one in json.loads(line.out)["transactions"]]
    assert eosctl("top", "--count", "1", "-b", one_broker.bootstrap, "-o", "yaml").code == 2


def test_a_group_with_pending_offsets_only_is_named(one_broker: SandboxThread) -> None:
    on(one_broker.bootstrap, lambda client: leave_open(client, "shop-records"))
    on(one_broker.bootstrap, lambda client: commit_offset(client, "shop-offsets", 1, end=False))
    ahead = Callbacks(lambda: system_now_ms() + 1_800_000)
    request = TransactionWatchRequest(Connection(one_broker.bootstrap), count=1, second_look_after_ms=0)
    moments: list[Moment] = []
    watch_transactions(request, lambda seen: moments.extend(seen), ahead)
    (row,) = (one for one in moments[0].transactions if one.transactional_id == "shop-offsets")
    assert (row.groups, moments[0].are_groups_read) == (("billing",), True)


def test_watching_begins_again_after_a_failure(one_broker: SandboxThread) -> None:
    stop, seen = Event(), []
    dead = TransactionWatchRequest(Connection("127.0.0.1:1"), interval_ms=1)

    def fail(error: EosctlError) -> None:
        seen.append(error.what)
        if len(seen) == 2:
            stop.set()

    keep_watching(dead, lambda moment: None, fail, stop, Event())
    assert len(seen) == 2
    alive, ended = TransactionWatchRequest(Connection(one_broker.bootstrap), interval_ms=1), Event()
    moments: list[Moment] = []

    def show(moment: Moment) -> None:
        moments.append(moment)
        ended.set()

    keep_watching(alive, show, fail, ended, Event())
    assert [one.cluster_id for one in moments] == [moments[0].cluster_id]


def test_readings_stay_below_a_hundredth_of_a_core() -> None:
    assert [pause_ms(None, cost_s) for cost_s in (None, 0.01, 0.05, 0.4)] == [5_000, 5_000, 5_000, 40_000]


def test_what_hangs_is_read_each_minute_at_any_cost() -> None:
    assert pause_ms(None, 10.0) == 60_000


def test_an_interval_is_kept() -> None:
    assert pause_ms(1_000, 0.4) == 1_000


def test_a_pause_follows_the_cost_of_the_last_reading(one_broker: SandboxThread) -> None:
    used_s = iter((3.0, 3.0, 3.4, 3.4, 3.41, 3.41))
    waited: list[float] = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)

    moments: list[Moment] = []
    watch_transactions(
        TransactionWatchRequest(Connection(one_broker.bootstrap), count=3),
        lambda seen: moments.append(seen[-1]),
        pace=Pace(wait, lambda: next(used_s)),
    )
    assert waited == pytest.approx([5, 40], abs=0.01)
    assert [(one.pause_ms // 1_000, one.is_slowed_down) for one in moments] == [(5, False), (40, True), (5, False)]


def test_a_pause_ends_when_it_is_asked_to(one_broker: SandboxThread) -> None:
    request, stop, again = (
        TransactionWatchRequest(Connection(one_broker.bootstrap), interval_ms=3_600_000),
        Event(),
        Event(),
    )
    moments: list[Moment] = []

    def show(moment: Moment) -> None:
        moments.append(moment)
        if len(moments) == 2:
            stop.set()
        again.set()

    keep_watching(request, show, lambda error: None, stop, again)
    assert len(moments) == 2
