"""``eosctl snapshot``: capture the evidence of a cluster in one file, look into it, compare two."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.gate import RequireComplete
from eosctl.commands.invocation import invocation_of, note, write_result
from eosctl.commands.options import (
    DEFAULT_SECOND_LOOK,
    Bootstrap,
    CommandConfig,
    Output,
    OutputFile,
    Overrides,
    Profile,
    SecondLookAfter,
    Timeout,
)
from eosctl.commands.session import callbacks
from eosctl.commands.source_options import MetricCredentials, MetricUrls
from eosctl.errors import ExitCode, UsageError
from eosctl.render.formats import FOR_PEOPLE, OutputFormat
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from eosctl.collect.bundles.bundle import Part


class Include(StrEnum):
    """What may go into a bundle beside the snapshot."""

    DATA_DIRS = "data-dirs"
    LOGS = "logs"
    JMX = "jmx"


def capture_snapshot(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The bundle to write, a zip file.")],
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    second_look_after: SecondLookAfter = DEFAULT_SECOND_LOOK,
    include: Annotated[
        str | None,
        typer.Option("--include", metavar="PARTS", help="Of data-dirs, logs and jmx, comma separated."),
    ] = None,
    data_dirs: Annotated[
        list[Path] | None, typer.Option("--data-dir", metavar="DIR", help="A broker's data directory; repeatable.")
    ] = None,
    logs: Annotated[
        list[Path] | None, typer.Option("--logs", metavar="PATH", help="Log files or directories; repeatable.")
    ] = None,
    metrics: MetricUrls = None,
    credentials: MetricCredentials = None,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
    require_complete: RequireComplete = False,
) -> None:
    """Capture a cluster's evidence in one file that can be sent to others.

    Secrets are masked. In data directories, keys, values, and headers of records are emptied; offsets, epochs,
    sequences, markers, and Kafka's own bookkeeping stay. In the metadata log and its snapshots, passwords, keys, and
    tokens are masked. The bundle lists what it does not hold.
    """
    from eosctl import __version__
    from eosctl.collect.bundles.bundle import write_bundle
    from eosctl.collect.bundles.bundle_parts import data_dir_parts, log_parts
    from eosctl.model.bundle import MissingPart
    from eosctl.render.bundle import PART_COLUMNS, bundle_item, render_bundle
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.services.collect_evidence import EvidenceRequest, collect_evidence
    from eosctl.services.sources import Sources, check_sources, read_sources

    parts = _included(include, data_dirs, logs, metrics)
    programs = Sources(metrics=tuple(metrics or ()), credentials=credentials)
    check_sources(programs)
    invocation = invocation_of(context)
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    with callbacks(invocation.now_ms) as shown:
        cluster = collect_evidence(EvidenceRequest(connection, second_look_after_ms=second_look_after), shown)
        evidence = read_sources(cluster, programs, shown).snapshot
    missing = [
        MissingPart(f"{gap.kind.value} of {gap.subject}", gap.error or gap.reason.value) for gap in evidence.gaps
    ]
    missing += [MissingPart(part.value, "not asked for (--include)") for part in Include if part not in parts]

    def contents() -> Iterator[Part]:
        yield from log_parts(logs or (), missing)
        yield from data_dir_parts(data_dirs or (), missing)

    manifest = write_bundle(file, evidence, contents(), missing, __version__)
    item = bundle_item(str(file), manifest, evidence)
    if output in FOR_PEOPLE:
        text = render_bundle(item, invocation.style())
    else:
        result = listing("bundle", "snapshot capture", invocation.now_ms(), (item,), evidence)
        text = render_listing(result, PART_COLUMNS, output)
    write_result(text, output_file)
    note(f"bundle: {file}")
    raise typer.Exit(ExitCode.INCOMPLETE if require_complete and evidence.gaps else 0)


def _included(
    include: str | None, data_dirs: list[Path] | None, logs: list[Path] | None, metrics: list[str] | None
) -> frozenset[Include]:
    words = [word.strip() for word in (include or "").split(",") if word.strip()]
    unknown = sorted(set(words) - set(Include))
    if unknown:
        raise UsageError(
            f"{', '.join(unknown)} cannot be included.",
            "A bundle can hold data-dirs, logs and jmx.",
            "Check --include.",
        )
    given: dict[Include, tuple[Sequence[Path | str] | None, str]] = {
        Include.DATA_DIRS: (data_dirs, "--data-dir DIR"),
        Include.LOGS: (logs, "--logs PATH"),
        Include.JMX: (metrics, "--jmx URL"),
    }
    parts = {Include(word) for word in words} | {part for part, (places, _) in given.items() if places}
    for part in sorted(parts):
        places, option = given[part]
        if not places:
            raise UsageError(
                f"--include {part.value} does not say where they are.", "No cluster tells it.", f"Add {option}."
            )
        for place in places:
            if isinstance(place, Path) and not place.exists():
                raise UsageError(f"There is nothing at {place}.", "", f"Check {option}.")
    return frozenset(parts)


def show_snapshot(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A bundle.")],
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Show what a bundle holds, what it lacks and why, and what was taken out."""
    from eosctl.collect.bundles.bundle import read_manifest, read_snapshot
    from eosctl.render.bundle import PART_COLUMNS, bundle_item, render_bundle
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing

    invocation = invocation_of(context)
    manifest, evidence = read_manifest(file), read_snapshot(file)
    item = bundle_item(str(file), manifest, evidence)
    if output in FOR_PEOPLE:
        text = render_bundle(item, invocation.style())
    else:
        result = listing("bundle", "snapshot show", invocation.now_ms(), (item,), evidence)
        text = render_listing(result, PART_COLUMNS, output)
    write_result(text, output_file)


def diff_two(
    context: typer.Context,
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="A bundle or a saved snapshot.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="A later one of the same cluster.")],
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Tell what changed between two snapshots: brokers, leaders, settings, transactions, groups."""
    from eosctl.analysis.snapshot_diff import diff_snapshots
    from eosctl.collect.bundles.snapshot_file import load_snapshot
    from eosctl.render.bundle import CHANGE_COLUMNS, change_item
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing

    invocation = invocation_of(context)
    old, new = load_snapshot(before), load_snapshot(after)
    if old.cluster_id != new.cluster_id:
        note(f"warning: these are two clusters, {old.cluster_id or 'unknown'} and {new.cluster_id or 'unknown'}")
    items = tuple(change_item(change) for change in diff_snapshots(old, new))
    result = listing("snapshot-diff", "snapshot diff", invocation.now_ms(), items, new)
    write_result(
        render_listing(result, CHANGE_COLUMNS, output, invocation.style(), empty="Nothing changed."), output_file
    )
