"""``eosctl sandbox logs``: what the nodes of a sandbox say, in Kafka's words."""

from __future__ import annotations

import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.invocation import write_result
from eosctl.errors import EosctlError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eosctl.sandbox.logging.reading import LogRecord

POLL_S = 0.2


def show_logs(
    name: Annotated[str, typer.Option("--name", help="Which sandbox.")] = "default",
    broker: Annotated[
        int | None, typer.Option("--broker", metavar="ID", help="Only this node; controllers have ids from 100 on.")
    ] = None,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="How many of the last records.")] = 50,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what is added, until Ctrl-C.")] = False,
    process: Annotated[
        bool, typer.Option("--process", help="What the sandbox's own process printed instead: failures of eosctl.")
    ] = False,
) -> None:
    """Show the logs of a sandbox's brokers and controllers, in order of time.

    They are Kafka's files (server.log, controller.log, state-change.log) in Kafka's layout, with the words of the
    release that the sandbox emulates, below `logs` in its data directory. Times are UTC.
    """
    from eosctl.sandbox.logging.reading import LogReader
    from eosctl.sandbox.process import manage, places

    found = manage.find(name)
    if process:
        write_result(_tail(places.log_file(name), lines))
        return
    data_dir = Path(found.sandbox.data_dir) if found is not None else places.default_data_dir(name)
    nodes = LogReader(places.logs_dir(data_dir)).nodes()
    if not nodes:
        raise EosctlError(
            f"The sandbox {name!r} has no logs.",
            f"There is nothing below {places.logs_dir(data_dir)}.",
            "Start it with: eosctl sandbox up; if that fails, see: eosctl sandbox logs --process",
        )
    chosen = nodes if broker is None else [node for node in nodes if node.rpartition("-")[2] == str(broker)]
    if not chosen:
        raise UsageError(f"The sandbox {name!r} has no node {broker}.", f"It has: {', '.join(nodes)}.", "Choose one.")
    reader = LogReader(places.logs_dir(data_dir), chosen)
    _write(reader.read(lines), named=broker is None)
    goes_on = follow
    while goes_on:
        time.sleep(POLL_S)
        goes_on = _goes_on(name)
        _write(reader.read(), named=broker is None)


def _goes_on(name: str) -> bool:
    from eosctl.sandbox.process import manage

    found = manage.find(name)
    return found is not None and found.running


def _write(records: Sequence[LogRecord], *, named: bool) -> None:
    width = max((len(record.node) for record in records), default=0)
    text = "".join(f"{record.node:{width}}  {record.text}\n" if named else f"{record.text}\n" for record in records)
    if text:
        write_result(text)


def _tail(path: Path, lines: int) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as log:
            return "".join(deque(log, maxlen=lines))
    except OSError as error:
        raise EosctlError(
            f"Cannot read {path}.", error.strerror or str(error), "See what runs: eosctl sandbox status"
        ) from error
