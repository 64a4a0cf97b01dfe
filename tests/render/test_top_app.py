"""The interactive view, driven by keys; readings and changes are the test's own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Event
from typing import Any

import pytest
from msgspec.structs import replace

from eosctl.errors import EosctlError
from eosctl.model.transaction_life import Moment, WatchedTransaction
from eosctl.render.top.board import Confirm
from tests.render.test_top_board import HANGING, MOMENT, OPEN, UNREAD

pytest.importorskip("textual", reason="textual is missing: pip install 'eosctl[top]'")

from textual.widgets import DataTable, Static

from eosctl.render.top.app import ConfirmScreen, TextScreen, TopActions, TopApp

SILENT = EosctlError("No broker answered.", "All three timed out.", "Start them.")


class World:
    """Readings that the test hands out, and what the view did."""

    def __init__(self, *readings: Moment | EosctlError) -> None:
        self.readings = readings
        self.aborted: list[str] = []
        self.ended = Event()

    def watch(self, show: Callable[[Moment], None], fail: Callable[[EosctlError], None], stop: Event) -> None:
        for reading in self.readings:
            fail(reading) if isinstance(reading, EosctlError) else show(reading)
        stop.wait()
        self.ended.set()

    def abort(self, one: WatchedTransaction, confirm: Confirm) -> str:
        if not confirm(f"PLAN {one.partitions[0]}", "orders-2"):
            return "Nothing was changed."
        self.aborted.append(str(one.partitions[0]))
        return "DONE"

    def app(self, *, read_only: bool = False) -> TopApp:
        return TopApp(TopActions(self.watch, None if read_only else self.abort, lambda check_id: f"About {check_id}"))


def play(app: TopApp, steps: Callable[[Any], Any], width: int = 80) -> None:
    async def run() -> None:
        async with app.run_test(size=(width, 24)) as pilot:
            await until(pilot, lambda: bool(app.query_one("#head", Static).content) or app.query_one("#unread").display)
            await steps(pilot)

    asyncio.run(run())


async def until(pilot: Any, happened: Callable[[], bool]) -> None:
    while not happened():
        await pilot.pause()


def shown(app: TopApp) -> str:
    return str(app.screen.query_one("#text", Static).content)


def rows(app: TopApp) -> list[str]:
    table = app.query_one("#rows", DataTable)
    return [str(table.get_row_at(number)[2]) for number in range(table.row_count)]


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
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        assert shown(app) == "PLAN orders-2"

    async def steps(pilot: Any) -> None:
        for answer, result in ((("y", "enter"), "Nothing was changed."), (("escape",), "Nothing was changed.")):
            await planned(pilot)
            await pilot.press(*answer)
            await until(pilot, lambda: isinstance(app.screen, TextScreen))
            assert shown(app) == result
            await pilot.press("escape")
        assert world.aborted == []
        await planned(pilot)
        await pilot.press(*"orders-2", "enter")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        assert (shown(app), world.aborted) == ("DONE", ["orders-2"])

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
        await until(pilot, lambda: "1 min 5 s" in [str(cell) for cell in app.query_one(DataTable).get_row_at(1)])
        (age,) = (one for one in app.query_one(DataTable).columns.values() if str(one.label) == "AGE")
        await until(pilot, lambda: age.content_width >= len("1 min 5 s"))
        await pilot.press("down")
        app.show_moment(replace(MOMENT, transactions=(OPEN,)))
        await pilot.pause()
        await pilot.press("enter")
        assert "shop: open" in shown(app)

    play(app, steps)


@pytest.mark.parametrize(("width", "columns"), [(80, 6), (160, 9)])
def test_columns_fit_the_width(width: int, columns: int) -> None:
    app = World(MOMENT).app()

    async def steps(pilot: Any) -> None:
        assert len(app.query_one(DataTable).columns) == columns

    play(app, steps, width)
