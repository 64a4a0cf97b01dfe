"""What the view of open transactions shows, as text: header, rows, and the details of one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from eosctl.model.transaction import NO_TIMEOUT_MS, TopicPartition
from eosctl.model.transaction_life import Moment, WatchedTransaction
from eosctl.render.escaping import visible
from eosctl.render.page import PLAIN, Block, Field, Grid, Line, Style, render_page
from eosctl.render.transactions.listing import age_text
from eosctl.text import count_text, duration_text, time_text

WIDE_FROM: Final = 120
HEAD_LINES: Final = 6
ROWS_WITHOUT_TERMINAL: Final = 50
NARROW_COLUMNS: Final = ("STATUS", "AGE", "TRANSACTION", "PARTITIONS", "HIDDEN", "GROUPS")
WIDE_COLUMNS: Final = ("STATUS", "AGE", "TRANSACTION", "PARTITIONS", "HIDDEN", "GROUPS", "STATE", "PRODUCER", "TIMEOUT")
#: The check that explains each status.
CHECK_OF: Final = {
    "hanging": "EOS-TXN-001",
    "stalled": "EOS-TXN-002",
    "late": "EOS-TXN-003",
    "long-running": "EOS-TXN-005",
}
TONES: Final = {"hanging": "bold red", "stalled": "red", "late": "red", "undecided": "yellow", "long-running": "yellow"}


Confirm = Callable[[str, str], bool]
"""Shows a plan, and returns whether the user typed its target."""


class Board(NamedTuple):
    """The transactions that match a filter, how many there are in all, and whether all columns are shown."""

    shown: Sequence[WatchedTransaction]
    total: int
    wide: bool

    def row(self, index: int) -> tuple[str, ...]:
        """Return the cells of a transaction; made when it is in sight."""
        return _cells(self.shown[index], self.wide)


def board(moment: Moment, *, wanted: str = "", wide: bool = False) -> Board:
    """Return the rows of a reading, the worst and oldest first.

    Args:
        moment: The reading.
        wanted: Text that a row must contain in one of its cells or names, in any case; empty for all rows.
        wide: Whether all columns are shown.
    """
    text = wanted.casefold()
    matching = tuple(one for one in moment.transactions if text in _searched(one)) if text else moment.transactions
    return Board(matching, len(moment.transactions), wide)


def key_of(one: WatchedTransaction) -> tuple[str, int, TopicPartition | None]:
    """Return what identifies a row in several readings."""
    return one.transactional_id, one.producer_id, None if one.first_offset is None else one.partitions[0]


def _searched(one: WatchedTransaction) -> str:
    names = (*map(str, one.partitions), *one.groups)
    return " ".join((one.status, one.transactional_id, one.state, str(one.producer_id), *names)).casefold()


def _cells(one: WatchedTransaction, wide: bool) -> tuple[str, ...]:
    narrow = (
        one.status,
        age_text(one.age_ms, one.idle_ms),
        visible(one.transactional_id) or "(unknown id)",
        _some([str(partition) for partition in one.partitions], 4 if wide else 2),
        str(one.hidden_offsets),
        _some(one.groups, 3 if wide else 1),
    )
    if not wide:
        return narrow
    timeout = _timeout(one) or "-"
    return (*narrow, visible(one.state) or "-", f"{one.producer_id}/{one.producer_epoch}", timeout)


def _timeout(one: WatchedTransaction) -> str:
    """Return the timeout; empty if it is not known. A two-phase commit has none."""
    if one.timeout_ms == NO_TIMEOUT_MS:
        return "no timeout"
    return duration_text(one.timeout_ms) if one.timeout_ms > 0 else ""


def _some(names: Sequence[str], count: int) -> str:
    more = f" +{len(names) - count}" if len(names) > count else ""
    return (", ".join(map(visible, names[:count])) + more) or "-"


def head_lines(moment: Moment) -> tuple[str, str]:
    """Return the cluster with its brokers, and the counts of a reading."""
    controller = "controller unknown" if moment.controller_id is None else f"controller {moment.controller_id}"
    brokers = ", ".join(
        f"{one.node_id} {one.state} ({count_text(one.coordinated_count, 'id')})" for one in moment.brokers[:8]
    )
    more = f" and {len(moment.brokers) - 8} more" if len(moment.brokers) > 8 else ""
    # The worst are first, and rows are made when they are read.
    total = len(moment.transactions)
    hanging = next((place for place in range(total) if not moment.transactions[place].is_hanging), total)
    counts = [
        f"{count_text(total, 'open transaction')}, {hanging} hanging",
        f"{count_text(moment.id_count, 'id')}",
        f"{count_text(moment.hidden_offsets, 'offset')} hidden",
    ]
    if moment.are_groups_read:
        groups = {group for one in moment.transactions for group in one.groups}
        counts.append(f"{count_text(len(groups), 'group')} waiting")
    return (
        f"{visible(moment.cluster_id)}  {controller}  brokers: {brokers}{more}",
        f"{time_text(moment.at_ms)}  {', '.join(counts)}",
    )


def age_line(moment: Moment, now_ms: int) -> str:
    """Return how old a reading is, and when the next one begins."""
    read = f"read {duration_text(max(0, now_ms - moment.at_ms) // 1000 * 1000)} ago"
    if not moment.pause_ms:
        return read
    why = ", slowed down to spare the processor" if moment.is_slowed_down else ""
    return f"{read}, then every {duration_text(moment.pause_ms)}{why}; r reads now"


def unread_line(moment: Moment) -> str:
    """Return what could not be read, on one line; empty if all of it was."""
    if not moment.unread:
        return ""
    more = f"; and {len(moment.unread) - 2} more" if len(moment.unread) > 2 else ""
    return visible(f"NOT READ: {'; '.join(moment.unread[:2])}{more}")


def empty_line(moment: Moment | None, shown: Board | None) -> str:
    """Return the sentence in place of rows; never an all-clear for what was not read."""
    if moment is None or shown is None:
        return "Reading the cluster ..."
    if shown.total:
        return f"None of {count_text(shown.total, 'transaction')} matches the filter."
    if moment.unread:
        return "No transaction is open in what was read; the rest is unknown."
    return "No transaction is open."


def details(one: WatchedTransaction, style: Style = PLAIN) -> str:
    """Return everything that is known about a transaction."""
    age = age_text(one.age_ms, one.idle_ms)
    blocks: list[Block] = [
        Line(f"{one.transactional_id or '(unknown id)'}: {one.status}", "bold"),
        Field("why", one.explanation),
        Field("producer", f"id {one.producer_id}, epoch {one.producer_epoch}"),
        Field("state", one.state or "no coordinator knows the producer id"),
        Field("age", age + (f" of {timeout}" if (timeout := _timeout(one)) else "")),
        Field("where", ", ".join(map(str, one.partitions)) or "no partition"),
    ]
    if one.first_offset is not None:
        blocks.append(Field("since", f"offset {one.first_offset}"))
    blocks.append(Field("hides", count_text(one.hidden_offsets, "offset")))
    blocks.append(Field("groups", ", ".join(one.groups) or "none is known to wait"))
    return render_page(blocks, style)


def render_board(moment: Moment, rows: int, style: Style = PLAIN) -> str:
    """Render a reading as one frame, for terminals without the interactive view.

    Args:
        moment: The reading.
        rows: The number of transactions to show.
        style: Width and color.
    """
    wide = style.width is None or style.width >= WIDE_FROM
    shown = board(moment, wide=wide)
    first, second = head_lines(moment)
    blocks: list[Block] = [Line(first, "bold"), Line(second)]
    if unread := unread_line(moment):
        blocks.append(Line(unread, "red"))
    if shown.shown:
        cells = tuple(shown.row(index) for index in range(min(rows, shown.total)))
        blocks.append(Grid(cells, WIDE_COLUMNS if wide else NARROW_COLUMNS))
        if shown.total > len(cells):
            blocks.append(Line(f"and {shown.total - len(cells):,} more"))
    else:
        blocks.append(Line(empty_line(moment, shown)))
    return render_page(blocks, style._replace(fold=True))
