"""The interactive view, driven by keys; readings and changes are the test's own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Event
from typing import Any

import pytest
from msgspec.structs import replace

from eosctl.errors import EosctlError
from eosctl.model.transaction import TopicPartition
from eosctl.model.transaction_life import Moment, WatchedTransaction
from eosctl.render.page import Style
from eosctl.render.top.board import Confirm
from tests.render.test_top_board import HANGING, MOMENT, OPEN, UNREAD

pytest.importorskip("textual", reason="textual is missing: pip install 'eosctl[top]'")

from textual.widgets import Static

from eosctl.render.top.app import ConfirmScreen, TextScreen, TopActions, TopApp
from eosctl.render.top.rows import Rows

SILENT = EosctlError("No broker answered.", "All three timed out.", "Start them.")


class World:
    """Readings that the test hands out, and what the view did."""

    def __init__(self, *readings: Moment | EosctlError) -> None:
        self.readings = readings
        self.aborted: list[str] = []
        self.ended = Event()
        self.declined = Event()
        self.asked = 0
        self.now_ms = MOMENT.at_ms + 12_000

    def watch(
        self, show: Callable[[Moment], None], fail: Callable[[EosctlError], None], stop: Event, again: Event
    ) -> None:
        for reading in self.readings:
            fail(reading) if isinstance(reading, EosctlError) else show(reading)
        while not stop.is_set():
            again.wait()
            again.clear()
            self.asked += 1
        self.ended.set()

    def abort(self, one: WatchedTransaction, confirm: Confirm, style: Style) -> str:
        if not confirm(f"PLAN {one.partitions[0]}", "orders-2"):
            self.declined.set()
            return "Nothing was changed."
        self.aborted.append(str(one.partitions[0]))
        return "DONE"

    def app(self, *, read_only: bool = False) -> TopApp:
        abort = None if read_only else self.abort
        return TopApp(TopActions(self.watch, abort, lambda check_id, style: f"About {check_id}", lambda: self.now_ms))


def play(app: TopApp, steps: Callable[[Any], Any], width: int = 80) -> None:
    async def run() -> None:
        async with app.run_test(size=(width, 24)) as pilot:
            await until(pilot, lambda: bool(app.query_one("#head", Static).content) or app.query_one("#unread").display)
            await steps(pilot)

    asyncio.run(run())


async def until(pilot: Any, happened: Callable[[], bool]) -> None:
    while not happened():
        await pilot.pause()


def is_shown(app: TopApp, kind: type[TextScreen] | type[ConfirmScreen]) -> bool:
    """Return whether a screen of that kind is there with its text, which is composed a moment later."""
    return isinstance(app.screen, kind) and bool(app.screen.query("#text"))


def shown(app: TopApp) -> str:
    return str(app.screen.query_one("#text", Static).content)


def rows(app: TopApp) -> list[str]:
    """Return the third cell of each row in sight, as it is rendered."""
    table = app.query_one(Rows)
    start = sum(width + 2 for width in table.widths[:2])
    lines = (table.render_line(y).text[start:] for y in range(1, table.size.height))
    return [line.split()[0] for line in lines if line.strip()]


def test_keys_describe_explain_and_filter() -> None:
    world = World(MOMENT)
    app = world.app()

    async def steps(pilot: Any) -> None:
        assert rows(app) == ["app-1", "shop"]
        await pilot.press("enter")
        assert "app-1: hanging" in shown(app)
        await pilot.press("escape", "e")
        assert shown(app) == "About EOS-TXN-001"
        await pilot.press("escape", "slash", *"shop", "enter")
        assert rows(app) == ["shop"]
        await pilot.press("e")
        assert "shop: open" in shown(app)
        await pilot.press("escape", "escape")
        assert rows(app) == ["app-1", "shop"]

    play(app, steps)
    assert world.ended.wait(60)


def test_an_abort_needs_its_partition_typed() -> None:
    world = World(MOMENT)
    app = world.app()

    async def planned(pilot: Any) -> None:
        await pilot.press("a")
        await until(pilot, lambda: is_shown(app, ConfirmScreen))
        assert shown(app) == "PLAN orders-2"

    async def steps(pilot: Any) -> None:
        for answer in (("enter",), ("escape",), ("y", "enter", "escape")):
            await planned(pilot)
            await pilot.press(*answer)
            await until(pilot, lambda: is_shown(app, TextScreen))
            assert shown(app) == "Nothing was changed."
            await pilot.press("escape")
        assert world.aborted == []
        await planned(pilot)
        await pilot.press("y", "enter")
        assert str(app.screen.query_one("#question", Static).content).startswith("y is not orders-2. Type orders-2")
        await pilot.press("escape")
        await until(pilot, lambda: is_shown(app, TextScreen))
        await pilot.press("escape")
        await planned(pilot)
        await pilot.press(*"orders-2", "enter")
        await until(pilot, lambda: is_shown(app, TextScreen))
        assert (shown(app), world.aborted) == ("DONE", ["orders-2"])

    play(app, steps)


def test_rows_are_read_again_after_an_abort() -> None:
    world = World(MOMENT)
    app = world.app()

    async def steps(pilot: Any) -> None:
        await pilot.press("a")
        await until(pilot, lambda: is_shown(app, ConfirmScreen))
        assert world.asked == 0
        await pilot.press(*"orders-2", "enter")
        await until(pilot, lambda: is_shown(app, TextScreen))
        async with asyncio.timeout(60):
            await until(pilot, lambda: world.asked == 1)

    play(app, steps)


def test_only_what_hangs_is_offered_for_abort() -> None:
    app = World(replace(MOMENT, transactions=(OPEN,))).app()

    async def steps(pilot: Any) -> None:
        await pilot.press("a")
        assert shown(app) == "Only a hanging transaction can be aborted; this one is open."

    play(app, steps)


def test_a_read_only_view_offers_no_abort() -> None:
    app = World(MOMENT).app(read_only=True)

    async def steps(pilot: Any) -> None:
        await pilot.press("a")
        assert "read-only" in shown(app)

    play(app, steps)


@pytest.mark.parametrize("readings", [(UNREAD,), (SILENT,), (MOMENT, SILENT)])
def test_unread_evidence_stays_in_sight(readings: tuple[Moment | EosctlError, ...]) -> None:
    app = World(*readings).app()

    async def steps(pilot: Any) -> None:
        await until(pilot, lambda: bool(app.query_one("#unread").display))
        assert str(app.query_one("#unread", Static).content).startswith("NOT READ: ")
        assert str(app.query_one("#empty", Static).content) != "No transaction is open."

    play(app, steps)


def test_rows_keep_the_cursor_and_take_new_values() -> None:
    older = replace(MOMENT, transactions=(HANGING, replace(OPEN, age_ms=65_000)))
    app = World(MOMENT, older).app()

    async def steps(pilot: Any) -> None:
        table = app.query_one(Rows)
        await until(pilot, lambda: "1 min 5 s" in table.texts(1))
        assert table.widths[1] >= len("1 min 5 s")
        await pilot.press("down")
        app.show_moment(replace(MOMENT, transactions=(OPEN,)))
        await pilot.pause()
        await pilot.press("enter")
        assert "shop: open" in shown(app)

    play(app, steps)


@pytest.mark.parametrize(("width", "columns"), [(80, 6), (160, 9)])
def test_columns_fit_the_width(width: int, columns: int) -> None:
    places = tuple(TopicPartition(f"payments.settled.eu-{number}", 12) for number in range(4))
    one = replace(OPEN, transactional_id="payments-" + "x" * 40, partitions=places, groups=("billing", "audit"))
    app = World(replace(MOMENT, transactions=(HANGING, one))).app()

    async def steps(pilot: Any) -> None:
        table = app.query_one(Rows)
        await pilot.pause()
        assert len(table.columns) == columns
        title, first, second = (table.render_line(y).text for y in range(3))
        assert title.split() == list(table.columns)
        assert "billing" in first
        assert second.count("…") == 2
        assert "3  " in second

    play(app, steps, width)


@pytest.mark.parametrize("keys", [(), ("enter",), ("slash",), ("a",)], ids=["rows", "a page", "filter", "question"])
def test_the_first_interrupt_ends_every_screen(keys: tuple[str, ...]) -> None:
    world = World(MOMENT)
    app = world.app()

    async def steps(pilot: Any) -> None:
        await pilot.press(*keys)
        if keys == ("a",):
            await until(pilot, lambda: is_shown(app, ConfirmScreen))
        await pilot.press("ctrl+c")
        await until(pilot, lambda: not app.is_running)

    play(app, steps)
    assert (app.is_interrupted, world.aborted) == (True, [])
    assert world.ended.wait(60)
    assert keys != ("a",) or world.declined.wait(60)


def test_the_age_of_the_rows_is_always_shown() -> None:
    world = World(replace(MOMENT, pause_ms=40_000, is_slowed_down=True), SILENT)
    app = world.app()

    def age() -> str:
        return str(app.query_one("#age", Static).content)

    async def steps(pilot: Any) -> None:
        await until(pilot, lambda: bool(app.query_one("#unread").display))
        assert age() == "read 12 s ago, then every 40 s, slowed down to spare the processor; r reads now"
        world.now_ms += 60_000
        await until(pilot, lambda: age().startswith("read 1 min 12 s ago"))
        await pilot.press("r")
        await until(pilot, lambda: world.asked == 1)

    play(app, steps)


def test_all_rows_are_reached_and_those_in_sight_are_made() -> None:
    many = tuple(replace(OPEN, transactional_id=f"id-{number}", producer_id=number) for number in range(10_000))
    app = World(replace(MOMENT, transactions=many)).app()

    async def steps(pilot: Any) -> None:
        await pilot.press("end")
        await until(pilot, lambda: rows(app)[-1] == "id-9999")
        app.show_moment(replace(MOMENT, transactions=many[5_000:]))
        await pilot.press("enter")
        assert "id-9999: open" in shown(app)
        await pilot.press("escape", "home")
        await until(pilot, lambda: rows(app)[0] == "id-5000")
        in_sight = len(rows(app))
        assert 0 < in_sight < 24
        await pilot.press("pagedown", "up", "e")
        assert f"id-{5_000 + in_sight - 1}: open" in shown(app)

    play(app, steps)


def test_a_defect_ends_the_view() -> None:
    def watch(*_: object) -> None:
        raise ValueError("a defect")

    async def run() -> None:
        app = TopApp(TopActions(watch, None, str, lambda: 0))
        async with app.run_test() as pilot:
            await until(pilot, lambda: not app.is_running)

    with pytest.raises(ValueError, match="a defect"):
        asyncio.run(run())
