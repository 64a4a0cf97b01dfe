"""The interactive view of open transactions, on Textual."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from functools import partial
from typing import ClassVar, Final, NamedTuple

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, Static

from eosctl.errors import EosctlError
from eosctl.model.transaction_life import Moment, WatchedTransaction
from eosctl.render.escaping import visible
from eosctl.render.page import Style
from eosctl.render.top.board import (
    CHECK_OF,
    WIDE_FROM,
    Board,
    Confirm,
    age_line,
    board,
    details,
    empty_line,
    head_lines,
    unread_line,
)
from eosctl.render.top.rows import Rows

AGE_S: Final = 2.0
#: Columns of a page's border, its padding, and a scrollbar.
PAGE_MARGIN: Final = 6


class TopActions(NamedTuple):
    """What the view calls.

    Attributes:
        watch: Reads until the first event is set, and without a pause when the second is; calls the first function with
            each reading, the second with each failure.
        abort: Plans the abort of a hanging transaction, has it confirmed, carries it out, and returns the result as
            text; None in a view that changes nothing.
        explain: Returns the explanation of a check.
        now_ms: The clock of the readings, in milliseconds since the epoch.
    """

    watch: Callable[[Callable[[Moment], None], Callable[[EosctlError], None], threading.Event, threading.Event], None]
    abort: Callable[[WatchedTransaction, Confirm, Style], str] | None
    explain: Callable[[str, Style], str]
    now_ms: Callable[[], int]


class TextScreen(ModalScreen[None]):
    """A page of text that any of the usual keys closes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss_page", "Close"),
        Binding("enter", "dismiss_page", "Close", show=False),
        Binding("q", "dismiss_page", "Close", show=False),
    ]

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def compose(self) -> ComposeResult:
        """Show the text and the keys."""
        with VerticalScroll(classes="page"):
            yield Static(Text(self.text), id="text")
        yield Footer()

    def action_dismiss_page(self) -> None:
        """Close the page."""
        self.dismiss()


class ConfirmScreen(ModalScreen[str]):
    """A plan with the question for its target; the result is what was typed, empty for a refusal."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave it")]

    def __init__(self, plan: str, target: str) -> None:
        super().__init__()
        self.plan, self.target = plan, target

    def compose(self) -> ComposeResult:
        """Show the plan above an input line."""
        with VerticalScroll(classes="page"):
            yield Static(Text(self.plan), id="text")
        yield Static(Text(f"Type {self.target} to carry it out, or press Escape to leave it:"), id="question")
        yield Input(id="answer")
        yield Footer()

    def on_mount(self) -> None:
        """Put the cursor into the input line."""
        self.query_one("#answer", Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer with the typed target, or with nothing; ask again after any other text."""
        typed = event.value.strip()
        if typed in ("", self.target):
            self.dismiss(typed)
            return
        question = f"{visible(typed)} is not {self.target}. Type {self.target}, or press Escape to leave it:"
        self.query_one("#question", Static).update(Text(question))
        event.input.value = ""

    def action_leave(self) -> None:
        """Answer with nothing."""
        self.dismiss("")


class TopApp(App[None]):
    """Open transactions of a cluster, read again and again.

    Args:
        actions: What the view calls.
    """

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #head { height: auto; } #age { height: 1; } #unread { height: auto; color: $error; display: none; }
    #empty { height: auto; display: none; }
    #filter { display: none; } .page { height: 1fr; border: solid $accent; padding: 0 1; background: $surface; }
    ConfirmScreen > Static { background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "describe", "Describe", priority=False),
        Binding("a", "abort", "Abort plan"),
        Binding("e", "explain", "Explain"),
        Binding("slash", "filter", "Filter"),
        Binding("r", "read", "Read now"),
        Binding("escape", "clear_filter", "All rows", show=False),
        Binding("q", "quit", "Quit"),
        # Textual copies with it, or asks for another key.
        Binding("ctrl+c", "interrupt", show=False, priority=True),
    ]

    def __init__(self, actions: TopActions) -> None:
        super().__init__()
        self._actions = actions
        self._moment: Moment | None = None
        self._board: Board | None = None
        self._wanted = ""
        self._failure = ""
        self.is_interrupted = False
        self._stop = threading.Event()
        self._again = threading.Event()
        self._abort_thread: threading.Thread | None = None

    def compose(self) -> ComposeResult:
        """Lay out header, gaps, rows, filter, and keys."""
        yield Static(id="head", markup=False)
        yield Static(id="age", markup=False)
        yield Static(id="unread", markup=False)
        yield Static(id="empty", markup=False)
        yield Rows(id="rows")
        yield Input(placeholder="filter: id, partition, group, status", id="filter")
        yield Footer()

    def show(self) -> bool:
        """Show the view until the user leaves it, let an abort end that has begun, and return whether it was Ctrl-C."""
        self.run()
        if self._abort_thread is not None:
            self._abort_thread.join()
        return self.is_interrupted

    def action_interrupt(self) -> None:
        """Leave the view as interrupted."""
        self.is_interrupted = True
        self.exit()

    def on_mount(self) -> None:
        """Begin to read; the thread ends with the program."""
        self.query_one(Rows).focus()
        self._redraw()
        self.set_interval(AGE_S, self._show_age)
        threading.Thread(target=self._watch, daemon=True).start()

    def on_unmount(self) -> None:
        """End the reading."""
        self._stop.set()
        self._again.set()

    def _watch(self) -> None:
        try:
            self._actions.watch(
                lambda moment: self._hand_over(self.show_moment, moment),
                lambda error: self._hand_over(self.show_failure, error),
                self._stop,
                self._again,
            )
        except Exception as error:  # noqa: BLE001 - a defect ends the view, since its rows would only grow old
            self._hand_over(partial(self.call_later, self._end_with), error)

    def _end_with(self, error: Exception) -> None:
        raise error

    def _hand_over(self, shown: Callable[..., None], value: object) -> None:
        if not self._stop.is_set():
            self.call_from_thread(shown, value)

    def show_moment(self, moment: Moment) -> None:
        """Show a reading."""
        self._moment, self._failure = moment, ""
        self._redraw()

    def show_failure(self, error: EosctlError) -> None:
        """Show that a reading failed; the rows of the previous one stay, with their time."""
        self._failure = visible(f"NOT READ: {error.what} {error.why}".rstrip())
        self._redraw()

    def on_resize(self) -> None:
        """Choose the columns that fit."""
        self._redraw()

    def _redraw(self) -> None:
        if not self.is_running or not self.query("#rows"):
            return
        moment, wide = self._moment, self.size.width >= WIDE_FROM
        self._board = None if moment is None else board(moment, wanted=self._wanted, wide=wide)
        lines = "" if moment is None else "\n".join(head_lines(moment))
        hidden = "" if self._board is None else self._filter_text(self._board)
        self.query_one("#head", Static).update(lines + hidden)
        unread = self._failure or ("" if moment is None else unread_line(moment))
        self._show("#unread", unread)
        has_rows = self._board is not None and bool(self._board.shown)
        self._show("#empty", "" if has_rows else empty_line(moment, self._board))
        self.query_one(Rows).show(self._board)
        self._show_age()

    def _show_age(self) -> None:
        """Show how old the rows are; the height of the line never changes."""
        moment = self._moment
        text = "" if moment is None else age_line(moment, self._actions.now_ms())
        if self.query("#age"):
            self.query_one("#age", Static).update(text, layout=False)

    def _filter_text(self, shown: Board) -> str:
        return f"\nfilter {self._wanted!r}: {len(shown.shown):,} of {shown.total:,}" if self._wanted else ""

    def _show(self, selector: str, text: str) -> None:
        widget = self.query_one(selector, Static)
        widget.update(text)
        widget.display = bool(text)

    def _selected(self) -> WatchedTransaction | None:
        rows: Rows = self.query_one(Rows)
        return rows.selected

    def action_read(self) -> None:
        """Read the cluster now."""
        self._again.set()

    def action_describe(self) -> None:
        """Show the details of the selected transaction."""
        if (one := self._selected()) is not None:
            self.push_screen(TextScreen(self._details(one)))

    def action_explain(self) -> None:
        """Explain the verdict on the selected transaction."""
        if (one := self._selected()) is None:
            return
        check_id = CHECK_OF.get(one.status)
        text = self._details(one) if check_id is None else self._actions.explain(check_id, self._style)
        self.push_screen(TextScreen(text))

    @property
    def _style(self) -> Style:
        return Style(width=int(self.size.width) - PAGE_MARGIN)

    def _details(self, one: WatchedTransaction) -> str:
        return details(one, self._style)

    def action_abort(self) -> None:
        """Plan the abort of the selected transaction; nothing is written without its confirmation."""
        if (one := self._selected()) is None:
            return
        if self._actions.abort is None:
            self.push_screen(TextScreen("This view is read-only: it was started with --read-only."))
        elif not one.is_hanging:
            self.push_screen(TextScreen(f"Only a hanging transaction can be aborted; this one is {one.status}."))
        elif self._abort_thread is None or not self._abort_thread.is_alive():
            self._abort_thread = threading.Thread(target=self._abort, args=(self._actions.abort, one), daemon=True)
            self._abort_thread.start()

    def _abort(self, abort: Callable[[WatchedTransaction, Confirm, Style], str], one: WatchedTransaction) -> None:
        try:
            text = abort(one, self._ask, self._style)
        except EosctlError as error:
            text = "\n".join(filter(None, (error.what, error.why, error.next_step)))
        self._again.set()  # The rows are from before, and the next reading may be a minute away.
        self._hand_over(lambda shown: self.push_screen(TextScreen(str(shown))) and None, text)

    def _ask(self, plan: str, target: str) -> bool:
        """Return whether the target was typed; leaving the view declines."""
        try:
            return not self._stop.is_set() and bool(self.call_from_thread(self._confirm, plan, target))
        except (CancelledError, RuntimeError):
            if self.is_running:
                raise
            return False

    async def _confirm(self, plan: str, target: str) -> bool:
        answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self.push_screen(ConfirmScreen(plan, target), answer.set_result)
        return await answer == target

    def action_filter(self) -> None:
        """Ask for the text that rows must contain."""
        entry = self.query_one("#filter", Input)
        entry.display = True
        entry.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter while the text is typed."""
        if event.input.id == "filter":
            self._wanted = event.value.strip()
            self._redraw()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Return to the rows, and keep the filter."""
        if event.input.id == "filter":
            event.input.display = bool(self._wanted)
            self.query_one(Rows).focus()

    def action_clear_filter(self) -> None:
        """Show all rows again."""
        entry = self.query_one("#filter", Input)
        entry.value = self._wanted = ""
        entry.display = False
        self.query_one(Rows).focus()
        self._redraw()
