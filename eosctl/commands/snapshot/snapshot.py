"""``eosctl snapshot``: capture the evidence of a cluster in one file, look into it, compare two."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import replace

from eosctl.command_line.invocation import Invocation, note, write_result
from eosctl.command_line.option_groups import options
from eosctl.commands.gate import RequireComplete
from eosctl.commands.options import ConnectionOptions, MetricCredentials, MetricUrls, ResultOptions, SecondLookAfter
from eosctl.commands.session import perform
from eosctl.errors import ExitCode
from eosctl.render.bundle import render_bundle, render_changes
from eosctl.services.callbacks import Callbacks
from eosctl.services.snapshots import Bundle, CaptureRequest, capture, compare_snapshots, read_bundle
from eosctl.services.sources import Sources

CaptureOptions = Annotated[
    CaptureRequest,
    options(
        file=typer.Argument(metavar="FILE", help="Bundle to write, a zip file."),
        connection=ConnectionOptions,
        second_look_after_ms=SecondLookAfter,
        data_dirs=typer.Option("--data-dir", metavar="DIR", help="Data directory of a broker; repeatable."),
        logs=typer.Option("--logs", metavar="PATH", help="Log files or directories; repeatable."),
        programs=Annotated[Sources, options(metrics=MetricUrls, credentials=MetricCredentials)],
    ),
]


def capture_snapshot(
    invocation: Invocation,
    request: CaptureOptions,
    include: Annotated[
        str,
        typer.Option(
            "--include", metavar="PARTS", help="Parts to include: data-dirs, logs, and jmx, separated by commas."
        ),
    ] = "",
    *,
    result: ResultOptions,
    require_complete: RequireComplete = False,
) -> None:
    """Save a cluster's evidence to a file.

    The bundle can be sent to others: secrets are masked. In data directories, the keys, values, and headers of records
    are emptied; offsets, epochs, sequences, markers, and Kafka's own bookkeeping are kept. In the metadata log and its
    snapshots, passwords, keys, and tokens are masked. The bundle lists what it does not contain.

    Examples:
        eosctl snapshot capture evidence.zip -b kafka-1:9092
        eosctl snapshot capture evidence.zip -b kafka-1:9092 --include logs --logs /var/log/kafka
    """
    words = tuple(word.strip() for word in include.split(",") if word.strip())
    bundle = perform(capture, replace(request, include=words), invocation)
    _write(bundle, request.file, "snapshot capture", result, invocation)
    note(f"bundle: {request.file}")
    raise typer.Exit(ExitCode.INCOMPLETE if require_complete and bundle.snapshot.gaps else ExitCode.DONE)


def show_snapshot(
    invocation: Invocation,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Evidence bundle.")],
    result: ResultOptions,
) -> None:
    """Show the contents of an evidence bundle.

    Lists what the bundle contains, what it lacks and why, and what was removed.

    Examples:
        eosctl snapshot show evidence.zip
        eosctl snapshot show evidence.zip -o json
    """
    _write(read_bundle(file), file, "snapshot show", result, invocation)


def diff_two(
    invocation: Invocation,
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="Bundle or saved snapshot.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="Later bundle or snapshot of the same cluster.")],
    result: ResultOptions,
) -> None:
    """Compare two snapshots of a cluster.

    Reports changes of brokers, leaders, settings, transactions, and groups.

    Examples:
        eosctl snapshot diff before.zip after.zip
        eosctl snapshot diff monday.json tuesday.json -o json
    """
    found = compare_snapshots(before, after, Callbacks(invocation.now_ms, note))
    text = render_changes(found.after, found.changes, invocation.now_ms(), result.output, invocation.style())
    write_result(text, result.output_file)


def _write(bundle: Bundle, file: Path, command: str, result: ResultOptions, invocation: Invocation) -> None:
    text = render_bundle(
        str(file), *bundle, command=command, now_ms=invocation.now_ms(), output=result.output, style=invocation.style()
    )
    write_result(text, result.output_file)
