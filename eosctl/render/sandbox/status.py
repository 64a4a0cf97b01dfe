"""Render the state of a sandbox: nodes, open transactions, and the partitions that need attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from eosctl.model.sandbox import SandboxItem
from eosctl.render.page import PLAIN, Block, Field, Grid, Line, Style, render_page

#: Lines of a page in addition to its partitions: headings, frames of nodes, the last line.
FRAME_LINES: Final = 14
TRANSACTIONS_SHOWN: Final = 20
INTERNAL_TOPICS: Final = ("__consumer_offsets", "__transaction_state", "__share_group_state")
_TROUBLE: Final = "yellow"

Row = Mapping[str, Any]


def render_status(
    item: SandboxItem, style: Style = PLAIN, *, everything: bool = False, height: int | None = None
) -> str:
    """Render the page of a running sandbox.

    Args:
        item: The sandbox with what its process reports of the cluster.
        style: Width and color.
        everything: Whether all partitions are shown.
        height: The lines of the terminal; None for as many as there are.
    """
    cluster = item.cluster or {}
    max_rows = None
    if height is not None:
        taken = (
            FRAME_LINES
            + item.broker_count
            + len(cluster.get("processes", ()))
            + len(cluster["transactions"][:TRANSACTIONS_SHOWN])
        )
        max_rows = max(height - taken, 1)
    return render_page(status_blocks(item, cluster, everything=everything, max_rows=max_rows), style)


def status_blocks(
    item: SandboxItem, cluster: Row, *, everything: bool = False, max_rows: int | None = None
) -> list[Block]:
    """Describe a running sandbox.

    Args:
        item: The sandbox.
        cluster: The process's report about the cluster.
        everything: Show all partitions, not only those of the user's topics and those in trouble.
        max_rows: How many partitions fit; None for all.
    """
    brokers, partitions, transactions = cluster["brokers"], cluster["partitions"], cluster["transactions"]
    is_down = any(not broker["ready"] for broker in brokers)
    version = cluster["transaction_version"]
    blocks: list[Block] = [
        Line(
            f"Sandbox {item.name}: Kafka {cluster['emulate']}"
            + (f", transaction.version {version}" if version is not None else "")
            + f", {_summary(partitions, transactions)}",
            _TROUBLE if is_down else "bold",
        ),
        Field("bootstrap", item.bootstrap),
        Field("control", ", ".join(_controller(found) for found in cluster["controllers"])),
        *(Field("process", _process(found)) for found in cluster.get("processes", ())),
        Grid(
            tuple(_broker_row(broker, partitions) for broker in brokers),
            ("BROKER", "ADDRESS", "STATE", "LEADS", "FOLLOWS", "OUT-OF-ISR"),
        ),
    ]
    if transactions:
        blocks += [Line("Transactions that are open or about to end", "bold"), _transaction_grid(transactions)]
    return blocks + _partition_blocks(partitions, everything=everything, max_rows=max_rows)


def _summary(partitions: Sequence[Row], transactions: Sequence[Row]) -> str:
    short = sum(len(row["isr"]) < len(row["replicas"]) for row in partitions)
    leaderless = sum(row["leader"] < 0 for row in partitions)
    held = sum(_gap(row) > 0 and row.get("open_transactions", 0) > 0 for row in partitions)
    parts = [_count(len(partitions), "partition")]
    parts += [f"{leaderless} without a leader"] * bool(leaderless)
    parts += [f"{short} not in sync"] * bool(short)
    parts += [f"{held} held back by open transactions"] * bool(held)
    return "; ".join([*parts, _count(len(transactions), "open transaction")])


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _controller(found: Row) -> str:
    if not found["running"]:
        return f"controller {found['id']} is down"
    role = f"active, epoch {found['epoch']}" if found["active"] else "follows"
    return f"controller {found['id']} ({role})"


def _process(found: Row) -> str:
    state = f"pid {found['pid']}" if found["running"] else f"process {found['pid']} {found['ended']}"
    return f"{found['worker']} ({state}): nodes {_ids(found['nodes'])}"


def _broker_row(broker: Row, partitions: Sequence[Row]) -> tuple[str, ...]:
    number = broker["id"]
    hosted = [row for row in partitions if number in row["replicas"]]
    leads = sum(row["leader"] == number for row in hosted)
    out = sum(number not in row["isr"] for row in hosted)
    state = "ready" if broker["ready"] else "starting" if broker["running"] else "down"
    return str(number), broker["address"], state, str(leads), str(len(hosted) - leads), str(out) if out else "-"


def _transaction_grid(transactions: Sequence[Row]) -> Grid:
    longest_first = sorted(transactions, key=lambda row: -row["open_ms"])
    rows = tuple(
        (
            row["transactional_id"],
            row["state"],
            f"{row['open_ms'] / 1000:.1f}s of {row['timeout_ms'] / 1000:g}s",
            str(row["coordinator"]),
            f"{row['producer_id']} epoch {row['producer_epoch']}",
            " ".join(row["partitions"]) or "-",
        )
        for row in longest_first[:20]
    )
    return Grid(rows, ("TRANSACTIONAL-ID", "STATE", "OPEN-FOR", "AT", "PRODUCER", "PARTITIONS"))


def _partition_blocks(partitions: Sequence[Row], *, everything: bool, max_rows: int | None) -> list[Block]:
    shown = [row for row in partitions if everything or row["topic"] not in INTERNAL_TOPICS or _is_odd(row)]
    shown.sort(key=lambda row: (not _is_odd(row), row["topic"], row["partition"]))
    quiet = len(partitions) - len(shown)
    cut = shown if max_rows is None else shown[:max_rows]
    blocks: list[Block] = []
    if cut:
        blocks.append(
            Grid(
                tuple(_partition_row(row) for row in cut),
                ("PARTITION", "LEADER", "EPOCH", "ISR", "END", "HW", "LSO", "GAP", "OPEN", "NOTE"),
            )
        )
    if len(cut) < len(shown):
        blocks.append(Line(f"... and {_count(len(shown) - len(cut), 'partition')} more", "dim"))
    if quiet:
        blocks.append(Line(f"{_count(quiet, 'partition')} of internal topics: in sync, nothing open", "dim"))
    return blocks


def _partition_row(row: Row) -> tuple[str, ...]:
    offsets = ("log_end_offset", "high_watermark", "last_stable_offset")
    known = "high_watermark" in row
    return (
        f"{row['topic']}-{row['partition']}",
        str(row["leader"]) if row["leader"] >= 0 else "none",
        str(row["leader_epoch"]),
        f"{_ids(row['isr'])}" + (f" of {_ids(row['replicas'])}" if len(row["isr"]) < len(row["replicas"]) else ""),
        *(str(row[name]) if known else "?" for name in offsets),
        str(_gap(row)) if known else "?",
        str(row["open_transactions"]) if known else "?",
        _note(row),
    )


def _note(row: Row) -> str:
    notes = []
    if row["leader"] < 0:
        notes.append("offline")
    if len(row["isr"]) < len(row["replicas"]):
        notes.append("not in sync")
    if _gap(row) and row.get("open_transactions"):
        notes.append("readers wait")
    return ", ".join(notes)


def _is_odd(row: Row) -> bool:
    return bool(_note(row))


def _gap(row: Row) -> int:
    return int(row.get("high_watermark", 0)) - int(row.get("last_stable_offset", 0))


def _ids(brokers: Sequence[int]) -> str:
    return ",".join(map(str, brokers))
