"""``eosctl fsck``: whether data directories hold what Kafka would have written, from the files alone."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.invocation import invocation_of, note, write_result
from eosctl.commands.options import Output, OutputFile, SecondLookAfter
from eosctl.errors import EosctlError, ExitCode, UsageError
from eosctl.render.formats import FOR_PEOPLE, OutputFormat

if TYPE_CHECKING:
    from eosctl.storage.gentle_reading import Read
    from eosctl.storage.survey import DataDirFacts


def fsck(
    context: typer.Context,
    directories: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Data directories (log.dirs) of the brokers of one cluster, or copies."),
    ],
    repair_plan: Annotated[
        bool, typer.Option("--repair-plan", help="Show the steps that would mend it; never touches a file.")
    ] = False,
    max_rate: Annotated[
        str | None,
        typer.Option(
            "--max-rate",
            metavar="BYTES",
            help="Read no more in a second, e.g. 20MiB; 50MiB where a broker runs on a directory, else no limit.",
        ),
    ] = None,
    second_look_after: SecondLookAfter = "2s",  # type: ignore[assignment]
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Check data directories: logs, indexes, snapshots, checkpoints, and transactions across them.

    Only reads. Where a broker writes meanwhile, only what a second look finds again is told. Exit code 3 when there is
    a warning or an error.
    """
    from eosctl.collect.data_dirs import inspect_data_dirs
    from eosctl.model.fsck import FsckSeverity
    from eosctl.render.envelope import listing
    from eosctl.render.fsck import FSCK_COLUMNS, fsck_item, render_consequences, render_repair_plan
    from eosctl.render.listing import render_listing
    from eosctl.render.progress import show_progress
    from eosctl.storage.survey import survey_data_dir

    invocation = invocation_of(context)
    rate = None if max_rate is None else _rate(max_rate)
    with show_progress() as tell:
        try:
            surveyed = [survey_data_dir(directory) for directory in _distinct(directories)]
            _refuse_two_clusters(surveyed)
            found = inspect_data_dirs(
                surveyed, _reader(rate, surveyed), lambda: time.sleep(second_look_after / 1000), tell
            )
        except OSError as error:
            raise EosctlError(
                f"Cannot read {error.filename}.",
                error.strerror or str(error),
                "Run it as the user that the broker runs as.",
            ) from error
    if not found.partition_count:
        raise UsageError("There is no partition directory.", "", "Name data directories, as in log.dirs.")
    if found.is_live:
        note("a broker runs on these files: warnings and errors are those that two looks found")
    findings = found.findings
    rank = [FsckSeverity.ERROR, FsckSeverity.WARNING, FsckSeverity.INFO]
    items = tuple(fsck_item(finding) for finding in sorted(findings, key=lambda found: rank.index(found.severity)))
    style = invocation.style()
    if repair_plan and output in FOR_PEOPLE:
        text = render_repair_plan(items, style)
    else:
        result = listing("fsck", "fsck", invocation.now_ms(), items)
        text = render_listing(
            result, FSCK_COLUMNS, output, style, empty=f"Healthy: {found.partition_count} partitions."
        )
        if output in FOR_PEOPLE:
            text += render_consequences(items, style)
    write_result(text, output_file)
    raise typer.Exit(ExitCode.FINDINGS if any(item.severity != FsckSeverity.INFO for item in items) else 0)


def _rate(text: str) -> int:
    from eosctl.capacity.quantities import QuantityError, parse_bytes

    try:
        bytes_per_s = int(parse_bytes(text))
    except QuantityError as error:
        raise UsageError(f"--max-rate {text} is no size.", str(error), "Write 20MiB, or 500kB.") from error
    if bytes_per_s <= 0:
        raise UsageError(f"--max-rate {text} is no rate.", "", "Write 20MiB, or 500kB.")
    return bytes_per_s


def _reader(bytes_per_s: int | None, surveyed: list[DataDirFacts]) -> Read:
    """Return what reads logs: gently where a rate is given or a broker runs."""
    from eosctl.collect.data_dirs import LIVE_BYTES_PER_S, is_in_use
    from eosctl.storage.gentle_reading import GentleReader

    if bytes_per_s is None and not is_in_use(surveyed):
        return os.pread
    return GentleReader(bytes_per_s or LIVE_BYTES_PER_S, time.monotonic, time.sleep).read


def _distinct(directories: list[Path]) -> list[Path]:
    """Drop directories that are named twice: a log is no replica of itself."""
    for directory in directories:
        if not directory.is_dir():
            raise UsageError(f"{directory} is no directory.", "", "Name data directories, as in log.dirs.")
    return list({directory.resolve(): directory for directory in reversed(directories)}.values())[::-1]


def _refuse_two_clusters(surveyed: list[DataDirFacts]) -> None:
    """Refuse directories of several clusters: whatever they have in common by name is not the same thing."""
    named = {facts.cluster_id: facts.path for facts in reversed(surveyed) if facts.cluster_id}
    if len(named) > 1:
        (one, here), (other, there), *_ = reversed(named.items())
        raise UsageError(
            "The directories belong to different clusters.",
            f"meta.properties of {here} names the cluster {one}, that of {there} {other}.",
            "Check each cluster by itself.",
        )
