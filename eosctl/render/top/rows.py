"""A table that renders only the rows in sight, however many there are."""

from __future__ import annotations

from typing import ClassVar, Final

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from eosctl.model.transaction_life import WatchedTransaction
from eosctl.render.top.board import NARROW_COLUMNS, TONES, WIDE_COLUMNS, Board, key_of
from eosctl.render.wrapping import share_columns

_HEAD, _CURSOR = Style(bold=True), Style(reverse=True)
#: The least width of the columns with names, which are cut before numbers go out of sight.
_NAMES: Final = {"TRANSACTION": 16, "PARTITIONS": 16, "GROUPS": 8}
_PADDING: Final = 2


class Rows(ScrollView):
    """Transactions below a line of titles, with a cursor that stays on its transaction."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "move(-1000000000)", show=False),
        Binding("end", "move(1000000000)", show=False),
    ]

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.columns: tuple[str, ...] = ()
        self.widths: list[int] = []
        self._widest: list[int] = []
        self._board: Board | None = None
        self._cursor = 0

    @property
    def selected(self) -> WatchedTransaction | None:
        """Return the transaction under the cursor."""
        shown = () if self._board is None else self._board.shown
        return shown[self._cursor] if self._cursor < len(shown) else None

    @property
    def _height(self) -> int:
        return max(1, int(self.size.height) - 1)

    def show(self, board: Board | None) -> None:
        """Show other rows; the cursor stays on its transaction if it is among them."""
        chosen = self.selected
        self._board = board
        shown = () if board is None else board.shown
        columns = WIDE_COLUMNS if board is not None and board.wide else NARROW_COLUMNS
        if columns != self.columns:
            self.columns, self._widest = columns, [len(column) for column in columns]
        if chosen is not None and shown:
            same = self._cursor < len(shown) and key_of(shown[self._cursor]) == key_of(chosen)
            if not same:
                wanted = key_of(chosen)
                found = (number for number, one in enumerate(shown) if key_of(one) == wanted)
                self._cursor = next(found, min(self._cursor, len(shown) - 1))
        self.virtual_size = Size(self.size.width, len(shown) + 1)
        self._widen()
        self.refresh()

    def texts(self, index: int) -> tuple[str, ...]:
        """Return the cells of a row."""
        assert self._board is not None
        return self._board.row(index)

    def _widen(self) -> None:
        """Widen columns to the values in sight as far as they fit; they never shrink: rows do not move sideways."""
        first = int(self.scroll_offset.y)
        count = 0 if self._board is None else len(self._board.shown)
        for index in range(first, min(count, first + self._height)):
            for number, text in enumerate(self.texts(index)):
                self._widest[number] = max(self._widest[number], cell_len(text))
        least = [min(width, _NAMES.get(name, width)) for name, width in zip(self.columns, self._widest, strict=True)]
        self.widths = share_columns(self._widest, least, int(self.size.width) - _PADDING * len(self.columns))

    def render_line(self, y: int) -> Strip:
        """Render a line of the screen: the titles, or a row."""
        if y == 0:
            return self._line(self.columns, _HEAD, _HEAD)
        index = int(self.scroll_offset.y) + y - 1
        if self._board is None or index >= len(self._board.shown):
            return Strip.blank(self.size.width, self.rich_style)
        style = _CURSOR if index == self._cursor else Style.null()
        tone = Style.parse(TONES.get(self._board.shown[index].status, ""))
        return self._line(self.texts(index), style + tone, style)

    def _line(self, texts: tuple[str, ...], first: Style, others: Style) -> Strip:
        cells = [f" {_cut(text, width)} " for text, width in zip(texts, self.widths, strict=True)]
        line = Strip([Segment(cells[0], first), Segment("".join(cells[1:]), others)] if cells else [])
        return line.adjust_cell_length(self.size.width, others).apply_style(self.rich_style)

    def on_resize(self, event: Resize) -> None:
        """Keep the cursor in sight, and share the width anew."""
        self._widen()
        self.action_move(0)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Widen columns to what has come in sight."""
        super().watch_scroll_y(old_value, new_value)
        self._widen()

    def on_click(self, event: Click) -> None:
        """Move the cursor to a row."""
        if event.y > 0:
            self.action_move(int(self.scroll_offset.y) + event.y - 1 - self._cursor)

    def action_page(self, pages: int) -> None:
        """Move the cursor by screens."""
        self.action_move(pages * self._height)

    def action_move(self, count: int) -> None:
        """Move the cursor by rows, and scroll so far that it is in sight."""
        total = 0 if self._board is None else len(self._board.shown)
        self._cursor = max(0, min(self._cursor + count, total - 1))
        top = int(self.scroll_offset.y)
        wanted = min(max(top, self._cursor - self._height + 1), self._cursor)
        if wanted != top:
            self.scroll_to(y=wanted, animate=False)
        self.refresh()


def _cut(text: str, width: int) -> str:
    """Return a text in its column; a longer one ends with an ellipsis."""
    return set_cell_size(text, width) if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"
