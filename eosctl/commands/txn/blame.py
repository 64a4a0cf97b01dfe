"""``eosctl txn blame`` and ``eosctl fencing explain``: who took a transactional id from whom, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from eosctl.commands.gate import RequireComplete
from eosctl.commands.incomplete import note_gaps
from eosctl.commands.invocation import invocation_of, note, write_result
from eosctl.commands.options import (
    Bootstrap,
    CommandConfig,
    Output,
    OutputFile,
    Overrides,
    Profile,
    SnapshotFile,
    Timeout,
)
from eosctl.commands.session import load_or_capture, resolve_connection
from eosctl.errors import EosctlError, ExitCode, UsageError
from eosctl.model.evidence import EvidenceKind
from eosctl.render.formats import OutputFormat
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from eosctl.model.group_commit import GroupCommit
    from eosctl.model.log_event import LogEvent
    from eosctl.model.snapshot import ClusterSnapshot

BLAMED: Final = frozenset(
    {
        EvidenceKind.TRANSACTIONS,
        EvidenceKind.PRODUCERS,
        EvidenceKind.OFFSETS,
        EvidenceKind.TRANSACTION_HISTORY,
        EvidenceKind.ABORTED_RANGES,
    }
)


def blame(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="TRANSACTIONAL-ID|PRODUCER-ID", help="The id, or one of its producer ids.")
    ],
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    snapshot: SnapshotFile = None,
    data_dirs: Annotated[
        list[str] | None,
        typer.Option("--data-dir", metavar="DIR", help="Read the transaction log from these directories; repeatable."),
    ] = None,
    logs: Annotated[
        list[Path] | None,
        typer.Option("--logs", metavar="PATH", help="Logs of applications and brokers, to name who it was."),
    ] = None,
    last: Annotated[int, typer.Option("--last", min=0, help="How many of the last steps to show.")] = 20,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
    require_complete: RequireComplete = False,
) -> None:
    """Tell who took a transactional id from whom, and why: from the transaction log, live or from files, and logs.

    Every time at which an owner lost the id gets a verdict: a newer instance, a timeout, an administrator, the client's
    own repair, expiry, a moved Streams task, two applications with one id, or a stale offset read at a takeover.
    """
    from eosctl.analysis.blame.report import explain_blame, resolve_id
    from eosctl.render.machine import render_json, render_tsv, render_yaml
    from eosctl.render.transactions.blame import BLAME_COLUMNS, blame_view, render_blame

    invocation = invocation_of(context)
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    evidence, commits = _evidence(connection, snapshot, data_dirs, invocation.now_ms)
    transactional_id = resolve_id(evidence, name)
    if transactional_id is None:
        raise EosctlError(
            f"Nothing is known of {name}.",
            "No coordinator lists it, and the newest part of the transaction log does not name it: it never existed, "
            "expired, or may not be described by this principal.",
            "List the known ids: eosctl txn list",
        )
    found = explain_blame(evidence, transactional_id, events=read_events(logs or ()), commits=commits)
    view = blame_view(found, "txn blame", invocation.now_ms())
    for gap in evidence.gaps:
        if gap.kind is EvidenceKind.TRANSACTION_HISTORY:
            note(f"incomplete: {gap.subject}: {gap.error or gap.detail or gap.reason.value}")
    match output:
        case OutputFormat.JSON:
            text = render_json(view)
        case OutputFormat.YAML:
            text = render_yaml(view)
        case OutputFormat.TSV:
            text = render_tsv([column.cell(item) for column in BLAME_COLUMNS] for item in view.items)
        case _:
            text = render_blame(view, last, invocation.style())
    write_result(text, output_file)
    note_gaps(output, [gap for gap in evidence.gaps if gap.kind is not EvidenceKind.TRANSACTION_HISTORY])
    raise typer.Exit(ExitCode.INCOMPLETE if require_complete and evidence.gaps else 0)


def _evidence(
    connection: Connection, snapshot: Path | None, data_dirs: list[str] | None, now_ms: Callable[[], int]
) -> tuple[ClusterSnapshot, Sequence[GroupCommit]]:
    if data_dirs:
        if connection.is_given or snapshot is not None:
            raise UsageError(
                "--data-dir and a cluster or snapshot were both given.",
                "The transaction log is read from one of them.",
                "Leave one of them out.",
            )
        from eosctl.collect.history_files import read_history

        return read_history(data_dirs, now_ms()), ()
    if snapshot is not None:
        return load_or_capture(connection, snapshot, BLAMED, now_ms=now_ms, second_look_after_ms=0), ()
    return _capture(connection, now_ms)


def _capture(connection: Connection, now_ms: Callable[[], int]) -> tuple[ClusterSnapshot, Sequence[GroupCommit]]:
    import asyncio

    from eosctl.analysis.coordinators import CONSUMER_OFFSETS_TOPIC
    from eosctl.client.client import connect
    from eosctl.collect.allowed import READ_ONLY_APIS
    from eosctl.collect.collector import Observer, collect_snapshot
    from eosctl.collect.group_commits import collect_group_commits
    from eosctl.collect.reader import ReadOnly
    from eosctl.render.progress import show_progress

    resolved = resolve_connection(connection)

    async def collect() -> tuple[ClusterSnapshot, Sequence[GroupCommit]]:
        with show_progress() as progress:
            async with connect(resolved.config, allowed_apis=READ_ONLY_APIS) as client:
                found = await collect_snapshot(client, Observer(now_ms, progress=progress), BLAMED)
                topic = found.topic(CONSUMER_OFFSETS_TOPIC)
                partitions = () if topic is None else topic.partitions
                commits = await collect_group_commits(ReadOnly(client), partitions)
                return found, commits.value

    return asyncio.run(collect())


def read_events(paths: Sequence[Path]) -> Sequence[LogEvent]:
    """Read logs into events.

    Raises:
        UsageError: A path does not exist.
    """
    missing = [path for path in paths if not path.exists()]
    if missing:
        raise UsageError(f"There is no file {missing[0]}.", "", "Name log files, or directories that hold some.")
    if not paths:
        return ()
    from eosctl.logs.scan import scan_paths
    from eosctl.render.progress import show_progress

    with show_progress() as progress:
        return scan_paths(list(paths), progress=progress).events
