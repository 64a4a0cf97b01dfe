"""``eosctl timeline``: an incident as lanes over time."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from msgspec.structs import replace

from eosctl.commands.gate import RequireComplete
from eosctl.commands.invocation import invocation_of, note, remember_output, write_result
from eosctl.commands.moments import parse_moment_ms
from eosctl.commands.options import (
    OUTPUT,
    Bootstrap,
    CommandConfig,
    OutputFile,
    Overrides,
    Profile,
    SnapshotFile,
    Timeout,
)
from eosctl.commands.session import load_or_capture, resolve_connection
from eosctl.errors import ExitCode, UsageError
from eosctl.model.evidence import EvidenceKind
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from eosctl.analysis.timeline import Focus, Sources
    from eosctl.model.log_event import LogEvent
    from eosctl.model.transaction import TopicPartition

FOCUS = "Focus"
KINDS: Final = frozenset(
    {EvidenceKind.TRANSACTIONS, EvidenceKind.PRODUCERS, EvidenceKind.OFFSETS, EvidenceKind.TRANSACTION_HISTORY}
)


class TimelineFormat(StrEnum):
    """How a timeline is written."""

    HTML = "html"
    JSON = "json"
    YAML = "yaml"
    TABLE = "table"
    TSV = "tsv"


def timeline(
    context: typer.Context,
    transactional_id: Annotated[
        str | None,
        typer.Option("--transactional-id", metavar="ID", help="One transactional id.", rich_help_panel=FOCUS),
    ] = None,
    partition: Annotated[
        str | None,
        typer.Option("--partition", metavar="TOPIC-PARTITION", help="One partition.", rich_help_panel=FOCUS),
    ] = None,
    group: Annotated[
        str | None, typer.Option("--group", metavar="GROUP", help="One consumer group.", rich_help_panel=FOCUS)
    ] = None,
    begin: Annotated[
        str | None,
        typer.Option("--from", metavar="TIME", help="From here on: RFC 3339, ms, or -30m.", rich_help_panel=FOCUS),
    ] = None,
    end: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="Up to here; like --from.", rich_help_panel=FOCUS)
    ] = None,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    snapshot: SnapshotFile = None,
    data_dirs: Annotated[
        list[str] | None,
        typer.Option("--data-dir", metavar="DIR", help="Read these data directories instead; repeatable."),
    ] = None,
    logs: Annotated[
        list[Path] | None, typer.Option("--logs", metavar="PATH", help="Logs to merge; repeatable.")
    ] = None,
    output: Annotated[
        TimelineFormat,
        typer.Option("--output", "-o", callback=remember_output, help="Format of the result.", rich_help_panel=OUTPUT),
    ] = TimelineFormat.TABLE,
    output_file: OutputFile = None,
    require_complete: RequireComplete = False,
) -> None:
    """Merge transaction log, batches, group commits and logs into lanes: one an actor, around an id or a time.

    With -o html it is one page: who did what when, and who lost an id to whom.
    """
    from eosctl.analysis.timeline import Focus, build_timeline
    from eosctl.render.machine import render_json, render_tsv, render_yaml
    from eosctl.render.transactions.timeline import render_timeline, render_timeline_html, timeline_rows, timeline_view

    invocation = invocation_of(context)
    now_ms = invocation.now_ms()
    focus = Focus(
        transactional_id or "",
        _partition(partition),
        group or "",
        parse_moment_ms(begin, "--from", now_ms),
        parse_moment_ms(end, "--to", now_ms),
    )
    if focus.from_ms is not None and focus.until_ms is not None and focus.from_ms >= focus.until_ms:
        raise UsageError("--from does not lie before --to.", "Nothing can be between them.", "Change one of them.")
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    sources, notes = _sources(focus, connection, snapshot, data_dirs, logs or (), invocation.now_ms)
    found = build_timeline(focus, sources, notes)
    match output:
        case TimelineFormat.HTML:
            text = render_timeline_html(found, invocation.now_ms())
        case TimelineFormat.JSON:
            text = render_json(timeline_view(found, invocation.now_ms()))
        case TimelineFormat.YAML:
            text = render_yaml(timeline_view(found, invocation.now_ms()))
        case TimelineFormat.TSV:
            text = render_tsv(timeline_rows(found))
        case TimelineFormat.TABLE:
            text = render_timeline(found, invocation.style())
    if output is TimelineFormat.HTML and output_file is not None:
        from eosctl.commands.invocation import write_file

        write_file(text, output_file)
        note(f"page: {output_file}")
    else:
        write_result(text, output_file)
    raise typer.Exit(ExitCode.INCOMPLETE if require_complete and sources.snapshot.gaps else 0)


def _partition(text: str | None) -> TopicPartition | None:
    from eosctl.model.transaction import TopicPartition

    if text is None:
        return None
    topic, dash, index = text.rpartition("-")
    if not dash or not topic or not index.isdigit():
        raise UsageError(f"{text!r} is no partition.", "", "Write --partition orders-0.")
    return TopicPartition(topic, int(index))


def _sources(
    focus: Focus,
    connection: Connection,
    snapshot: Path | None,
    data_dirs: list[str] | None,
    logs: Sequence[Path],
    now_ms: Callable[[], int],
) -> tuple[Sources, list[str]]:
    from eosctl.analysis.blame.report import explain_blame
    from eosctl.analysis.timeline import Sources, relevant_ids
    from eosctl.services.log_events import read_events

    events: Sequence[LogEvent] = read_events(logs, lambda text: None)
    if data_dirs:
        if connection.is_given or snapshot is not None:
            raise UsageError(
                "--data-dir and a cluster or snapshot were both given.", "One of them is read.", "Leave one out."
            )
        found, notes = _from_files(focus, data_dirs, now_ms)
    elif snapshot is not None or (events and not connection.is_given):
        from eosctl.model.snapshot import ClusterSnapshot

        evidence = (
            ClusterSnapshot(now_ms(), "")
            if snapshot is None
            else load_or_capture(connection, snapshot, KINDS, now_ms=now_ms, second_look_after_ms=0)
        )
        found, notes = Sources(evidence), ["Batches and group commits are not in a snapshot."] if snapshot else []
    else:
        found, notes = _from_cluster(focus, connection, now_ms)
    found = found._replace(events=events)
    verdicts = {
        name: explain_blame(found.snapshot, name, events=events, commits=found.commits).verdicts
        for name in relevant_ids(focus, found)
    }
    notes += [
        f"{gap.kind.value} of {gap.subject}: {gap.detail or gap.error or gap.reason.value}"
        for gap in found.snapshot.gaps
    ]
    return found._replace(verdicts=verdicts), list(dict.fromkeys(notes))


def _from_files(focus: Focus, data_dirs: list[str], now_ms: Callable[[], int]) -> tuple[Sources, list[str]]:
    from eosctl.analysis.timeline import Sources, relevant_partitions
    from eosctl.collect.batch_facts import read_batch_facts
    from eosctl.collect.history_files import read_history

    found = Sources(read_history(data_dirs, now_ms()))
    batches = read_batch_facts(data_dirs, relevant_partitions(focus, found))
    return found._replace(batches=batches), ["Group commits are read from a cluster only."]


def _from_cluster(focus: Focus, connection: Connection, now_ms: Callable[[], int]) -> tuple[Sources, list[str]]:
    import asyncio

    from eosctl.analysis.coordinators import CONSUMER_OFFSETS_TOPIC
    from eosctl.analysis.partitions import require_partition
    from eosctl.analysis.timeline import Sources, relevant_partitions
    from eosctl.client.client import connect
    from eosctl.collect.allowed import READ_ONLY_APIS
    from eosctl.collect.batch_facts import collect_batch_facts
    from eosctl.collect.collector import Observer, collect_snapshot
    from eosctl.collect.group_commits import collect_group_commits
    from eosctl.collect.reader import ReadOnly
    from eosctl.render.progress import show_progress

    resolved = resolve_connection(connection)

    async def collect() -> Sources:
        with show_progress() as progress:
            async with connect(resolved.config, allowed_apis=READ_ONLY_APIS) as client:
                evidence = await collect_snapshot(client, Observer(now_ms, progress=progress), KINDS)
                reader = ReadOnly(client)
                topic = evidence.topic(CONSUMER_OFFSETS_TOPIC)
                commits = await collect_group_commits(reader, () if topic is None else topic.partitions)
                found = Sources(evidence, commits=commits.value)
                where = [info for p in relevant_partitions(focus, found) if (info := evidence.partition(p)) is not None]
                batches = await collect_batch_facts(reader, where, focus.from_ms or 0)
                gaps = evidence.gaps + commits.gaps + batches.gaps
                return found._replace(batches=batches.value, snapshot=replace(evidence, gaps=gaps))

    found = asyncio.run(collect())
    if focus.partition is not None:
        require_partition(found.snapshot, focus.partition)
    return found, []
