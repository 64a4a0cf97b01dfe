"""``eosctl snapshot``: capture the evidence of a cluster in one file, look into it, compare two."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eosctl.commands.gate import RequireComplete
from eosctl.commands.invocation import Invocation, note, write_result
from eosctl.commands.options import DEFAULT_SECOND_LOOK, ClusterOptions, ResultOptions, SecondLookAfter
from eosctl.commands.session import perform
from eosctl.commands.source_options import MetricCredentials, MetricUrls
from eosctl.errors import ExitCode
from eosctl.render.bundle import render_bundle, render_changes
from eosctl.services.callbacks import Callbacks
from eosctl.services.snapshots import Bundle, CaptureRequest, capture, compare_snapshots, read_bundle
from eosctl.services.sources import Sources


def capture_snapshot(
    invocation: Invocation,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The bundle to write, a zip file.")],
    cluster: ClusterOptions,
    second_look_after: SecondLookAfter = DEFAULT_SECOND_LOOK,
    include: Annotated[
        str | None, typer.Option("--include", metavar="PARTS", help="Of data-dirs, logs and jmx, comma separated.")
    ] = None,
    data_dirs: Annotated[
        list[Path] | None, typer.Option("--data-dir", metavar="DIR", help="A broker's data directory; repeatable.")
    ] = None,
    logs: Annotated[
        list[Path] | None, typer.Option("--logs", metavar="PATH", help="Log files or directories; repeatable.")
    ] = None,
    metrics: MetricUrls = None,
    credentials: MetricCredentials = None,
    *,
    result: ResultOptions,
    require_complete: RequireComplete = False,
) -> None:
    """Capture a cluster's evidence in one file that can be sent to others.

    Secrets are masked. In data directories, keys, values, and headers of records are emptied; offsets, epochs,
    sequences, markers, and Kafka's own bookkeeping stay. In the metadata log and its snapshots, passwords, keys, and
    tokens are masked. The bundle lists what it does not hold.
    """
    words = tuple(word.strip() for word in (include or "").split(",") if word.strip())
    request = CaptureRequest(
        file,
        cluster.connection,
        second_look_after,
        words,
        tuple(data_dirs or ()),
        tuple(logs or ()),
        Sources(metrics=tuple(metrics or ()), credentials=credentials),
    )
    bundle = perform(capture, request, invocation)
    _write(bundle, file, "snapshot capture", result, invocation)
    note(f"bundle: {file}")
    raise typer.Exit(ExitCode.INCOMPLETE if require_complete and bundle.snapshot.gaps else ExitCode.DONE)


def show_snapshot(
    invocation: Invocation,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A bundle.")],
    result: ResultOptions,
) -> None:
    """Show what a bundle holds, what it lacks and why, and what was taken out."""
    _write(read_bundle(file), file, "snapshot show", result, invocation)


def diff_two(
    invocation: Invocation,
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="A bundle or a saved snapshot.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="A later one of the same cluster.")],
    result: ResultOptions,
) -> None:
    """Tell what changed between two snapshots: brokers, leaders, settings, transactions, groups."""
    found = compare_snapshots(before, after, Callbacks(invocation.now_ms, note))
    text = render_changes(found.after, found.changes, invocation.now_ms(), result.output, invocation.style())
    write_result(text, result.output_file)


def _write(bundle: Bundle, file: Path, command: str, result: ResultOptions, invocation: Invocation) -> None:
    text = render_bundle(
        str(file), *bundle, command=command, now_ms=invocation.now_ms(), output=result.output, style=invocation.style()
    )
    write_result(text, result.output_file)
