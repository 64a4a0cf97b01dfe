"""Sandboxes as rows, a new one with what to type next, and log records of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eosctl.model.sandbox import NodeRecord, SandboxItem
from eosctl.render.envelope import listing
from eosctl.render.formats import OutputFormat
from eosctl.render.listing import Column, render_listing
from eosctl.render.page import PLAIN, Block, Field, Line, Style, render_page
from eosctl.text import count_text

FILES_NAMED: Final = 5


SANDBOX_COLUMNS: Final[tuple[Column[SandboxItem], ...]] = (
    Column("NAME", lambda item: item.name),
    Column("STATE", lambda item: "running" if item.running else "gone"),
    Column("BOOTSTRAP", lambda item: item.bootstrap),
    Column("BROKERS", lambda item: str(item.broker_count)),
    Column("KAFKA", lambda item: item.kafka or f"as {item.emulate}"),
    Column("PID", lambda item: str(item.pid)),
    Column("DATA-DIR", lambda item: item.data_dir, wide=True),
    Column("LOG-FILE", lambda item: item.log_file, wide=True),
)


def render_sandboxes(
    command: str, items: tuple[SandboxItem, ...], now_ms: int, output: OutputFormat, style: Style = PLAIN
) -> str:
    """Render sandboxes as a list."""
    result = listing("sandboxes", command, now_ms, items)
    return render_listing(result, SANDBOX_COLUMNS, output, style, empty="No sandbox.")


def render_records(records: Sequence[NodeRecord], *, named: bool) -> str:
    """Render log records of nodes as the files have them; ``named`` puts the node in front of each."""
    width = max((len(record.node) for record in records), default=0)
    return "".join(f"{record.node:{width}}  {record.text}\n" if named else f"{record.text}\n" for record in records)


def left_text(data_dir: str, left: Sequence[str]) -> str:
    """Name the files that a sandbox left in its data directory, because it did not write them."""
    more = len(left) - FILES_NAMED
    named = ", ".join(left[:FILES_NAMED]) + (f", and {more:,} more" if more > 0 else "")
    return f"left in {data_dir}, as this sandbox did not write it: {named}"


def render_started(item: SandboxItem, style: Style = PLAIN) -> str:
    """Say where a new sandbox listens and what to do with it."""
    name = "" if item.name == "default" else f" --name {item.name}"
    brokers = count_text(item.broker_count, "broker")
    blocks: list[Block] = [
        Line(f"Sandbox {item.name}: {brokers} on {item.bootstrap}", "bold"),
        Field("runs", f"Apache Kafka {item.kafka}") if item.kafka else Field("emulates", f"Kafka {item.emulate}"),
        Field("data", item.data_dir + (" (removed when it stops)" if item.ephemeral else "")),
        Field("logs", item.logs_dir),
        *([] if item.metrics_port is None else [Field("metrics", _metrics_text(item))]),
        *_security(item),
        Line("Next"),
        Line(f"  $ eosctl sandbox scenario zombie{name}"),
        Line(f"  $ eosctl doctor {connection_words(item.bootstrap, item.client_config)}"),
        Line(f"  $ eosctl sandbox down{name}"),
    ]
    return render_page(blocks, style)


def _security(item: SandboxItem) -> list[Block]:
    if item.client_config is None:
        return []
    return [Field("listener", item.security_protocol), Field("clients", item.client_config)]


def connection_words(bootstrap: str, client_config: object) -> str:
    """Return the options with which eosctl reaches a sandbox: its address, or the file that has address and login."""
    return f"-b {bootstrap}" if client_config is None else f"--command-config {client_config}"


def _metrics_text(item: SandboxItem) -> str:
    first = f"http://127.0.0.1:{item.metrics_port}/metrics"
    return first if item.broker_count == 1 else f"{first} of broker 1, the others on the ports behind it"
