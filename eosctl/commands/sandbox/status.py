"""``eosctl sandbox status``: all sandboxes in a list, or one on a page, drawn once or again and again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.invocation import Invocation, invocation_of, write_result
from eosctl.commands.options import Output, OutputFile
from eosctl.errors import UsageError
from eosctl.render.formats import FOR_PEOPLE, OutputFormat

if TYPE_CHECKING:
    from eosctl.render.page import Style
    from eosctl.render.sandbox.listing import SandboxItem
    from eosctl.sandbox.process.manage import Found
    from eosctl.sandbox.process.spec import RunningSandbox

# What a page needs besides its partitions: headings, nodes' frames, the last line.
FRAME_LINES = 14


def show_sandboxes(
    context: typer.Context,
    name: Annotated[str | None, typer.Option("--name", help="Only this one: its nodes, what is open, lags.")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Draw one sandbox's page again and again.")] = False,
    interval: Annotated[float, typer.Option("--interval", min=0.1, help="Seconds between two pages.")] = 1.0,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """List the sandboxes of this user, or show one of them (`--name`, `--watch`).

    A page shows controllers and brokers, open transactions, and leader, ISR and offsets of partitions: GAP is what
    read_committed readers do not see yet (high watermark less last stable offset). Partitions of internal topics
    appear when something is wrong with them; `-o wide` shows all.
    """
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.sandbox.listing import SANDBOX_COLUMNS
    from eosctl.sandbox.process import manage

    invocation = invocation_of(context)
    if watch:
        if output not in FOR_PEOPLE or output_file is not None:
            raise UsageError("--watch draws a page for people.", "Machines read -o json.", "Leave --watch out.")
        _watch(manage.require(name or "default"), interval, output, invocation)
        return
    if name is None:
        items = tuple(sandbox_item(found) for found in manage.find_all())
    else:
        sandbox = manage.require(name)
        items = (sandbox_item(manage.Found(sandbox, running=True), manage.ask(sandbox, "status")),)
        if output in FOR_PEOPLE:
            page = _page(items[0], invocation.style(), everything=output is OutputFormat.WIDE)
            write_result(page, output_file)
            return
    result = listing("sandboxes", "sandbox status", invocation.now_ms(), items)
    text = render_listing(result, SANDBOX_COLUMNS, output, invocation.style(), empty="No sandbox.")
    write_result(text, output_file)


def _page(item: SandboxItem, style: Style, *, everything: bool, max_rows: int | None = None) -> str:
    from eosctl.render.page import render_page
    from eosctl.render.sandbox.status import status_blocks

    return render_page(status_blocks(item, item.cluster or {}, everything=everything, max_rows=max_rows), style)


def _watch(sandbox: RunningSandbox, interval_s: float, output: OutputFormat, invocation: Invocation) -> None:
    from eosctl.render.live import show_live
    from eosctl.sandbox.process import manage

    def draw(style: Style, height: int | None) -> str:
        item = sandbox_item(manage.Found(sandbox, running=True), manage.ask(sandbox, "status"))
        cluster = item.cluster or {}
        taken = FRAME_LINES + item.broker_count + len(cluster["transactions"][:20])
        max_rows = None if height is None else max(height - taken, 1)
        return _page(item, style._replace(fold=True), everything=output is OutputFormat.WIDE, max_rows=max_rows)

    show_live(draw, invocation.style, interval_s)


def sandbox_item(found: Found, cluster: dict[str, object] | None = None) -> SandboxItem:
    """Return a sandbox as it is shown; ``cluster`` is what its process says of its state."""
    from eosctl.commands.sandbox.security import client_file_of
    from eosctl.render.sandbox.listing import SandboxItem
    from eosctl.sandbox.process import places

    sandbox = found.sandbox
    return SandboxItem(
        name=sandbox.name,
        running=found.running,
        bootstrap=sandbox.bootstrap,
        broker_count=sandbox.spec.brokers,
        emulate=sandbox.spec.emulate,
        kafka=sandbox.spec.kafka,
        transaction_version=sandbox.spec.transaction_version,
        pid=sandbox.pid,
        started_at_ms=sandbox.started_at_ms,
        data_dir=sandbox.data_dir,
        log_file=sandbox.log_file,
        logs_dir=str(places.logs_dir(Path(sandbox.data_dir))),
        metrics_port=sandbox.spec.metrics_port,
        ephemeral=sandbox.spec.ephemeral,
        settings=dict(sandbox.spec.settings),
        security_protocol=sandbox.spec.security.protocol.name,
        client_config=None if (file := client_file_of(sandbox.spec)) is None else str(file),
        cluster=cluster,
    )
