"""``eosctl fsck``: whether data directories hold what Kafka would have written, from the files alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.invocation import invocation_of, write_result
from eosctl.commands.options import Output, OutputFile
from eosctl.errors import EosctlError, UsageError
from eosctl.render.formats import FOR_PEOPLE, OutputFormat

if TYPE_CHECKING:
    from eosctl.storage.survey import DataDirFacts

FINDINGS = 3


def fsck(
    context: typer.Context,
    directories: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Data directories (log.dirs) of the brokers of one cluster, or copies."),
    ],
    repair_plan: Annotated[
        bool, typer.Option("--repair-plan", help="Show the steps that would mend it; never touches a file.")
    ] = False,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Check data directories: logs, indexes, snapshots, checkpoints, and transactions across them.

    Only reads. Exit code 3 when there is a warning or an error.
    """
    from eosctl.analysis.fsck.data_set import DataSetCheck
    from eosctl.model.fsck import FsckFinding, FsckSeverity
    from eosctl.render.envelope import listing
    from eosctl.render.fsck import FSCK_COLUMNS, fsck_item, render_consequences, render_repair_plan
    from eosctl.render.listing import render_listing
    from eosctl.render.progress import show_progress
    from eosctl.storage.survey import survey_data_dir, survey_partition

    invocation = invocation_of(context)
    check = DataSetCheck()
    findings: list[FsckFinding] = []
    with show_progress() as tell:
        try:
            surveyed = [survey_data_dir(directory) for directory in _distinct(directories)]
            _refuse_two_clusters(surveyed)
            for facts in surveyed:
                findings += check.check_directory(facts, survey_partition, tell)
        except OSError as error:
            raise EosctlError(f"Cannot read {error.filename}.", error.strerror or str(error)) from error
    if not check.partition_count:
        raise UsageError("There is no partition directory.", "", "Name data directories, as in log.dirs.")
    findings += check.check_together()
    rank = [FsckSeverity.ERROR, FsckSeverity.WARNING, FsckSeverity.INFO]
    items = tuple(fsck_item(finding) for finding in sorted(findings, key=lambda found: rank.index(found.severity)))
    style = invocation.style()
    if repair_plan and output in FOR_PEOPLE:
        text = render_repair_plan(items, style)
    else:
        result = listing("fsck", "fsck", invocation.now_ms(), items)
        text = render_listing(
            result, FSCK_COLUMNS, output, style, empty=f"Healthy: {check.partition_count} partitions."
        )
        if output in FOR_PEOPLE:
            text += render_consequences(items, style)
    write_result(text, output_file)
    raise typer.Exit(FINDINGS if any(item.severity != FsckSeverity.INFO for item in items) else 0)


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
