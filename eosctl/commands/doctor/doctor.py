"""``eosctl doctor``: evidence, checks, grade, advice."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from eosctl.commands.doctor.watch import WatchOptions, check_watchable, show_watch
from eosctl.commands.gate import ScoredGate
from eosctl.commands.invocation import Invocation
from eosctl.commands.options import LooksOptions
from eosctl.commands.report_output import ReportOptions, write_diagnosis
from eosctl.commands.session import perform
from eosctl.commands.source_options import MetricCredentials, MetricUrls, source_option
from eosctl.errors import UsageError
from eosctl.services.diagnose import DiagnoseRequest, diagnose
from eosctl.services.sources import Sources
from eosctl.services.watch_diagnosis import WatchRequest


class SourceOptions(NamedTuple):
    """The options for evidence in addition to the cluster's own."""

    logs: Annotated[
        list[Path] | None,
        source_option(
            "--logs",
            metavar="PATH",
            help="Logs of brokers and applications: files, archives, folders, or -; repeatable.",
        ),
    ] = None
    zone: Annotated[
        str | None,
        source_option("--zone", metavar="ZONE", help="Zone of stamps in logs that have none, e.g. Europe/Berlin."),
    ] = None
    metrics: MetricUrls = None
    credentials: MetricCredentials = None

    @property
    def sources(self) -> Sources:
        """The logs and metrics to read."""
        return Sources(tuple(self.logs or ()), self.zone, tuple(self.metrics or ()), self.credentials)


def doctor(
    invocation: Invocation,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH]...", help="Configuration files and folders to judge as well.", exists=True),
    ] = None,
    *,
    looks: LooksOptions,
    sources: SourceOptions,
    watch: WatchOptions,
    report: ReportOptions,
    gate: ScoredGate,
) -> None:
    """Collect evidence, run every check that applies, grade, say what to do next.

    Nothing is changed: only read requests are sent, no group is joined, no topic is created. With paths, configuration
    files are judged too, against the cluster's brokers; logs and metrics join what the cluster says. Any of them may
    stand alone: where no cluster is named, none is asked. Exit codes:
    0 nothing at or above --fail-on, 1 the cluster could not be asked, 2 usage, a malformed file, or no
    check evaluated because logs were not recognized, 3 findings or a score below --min-score, 4 evidence incomplete
    with --require-complete.
    """
    connection, demands = looks.cluster.connection, gate.options
    if watch.watch:
        once = {
            "a path": paths,
            "--logs": sources.logs,
            "--snapshot": looks.snapshot,
            "--save-snapshot": report.save_snapshot,
            "--report": report.report,
            "--output-file": report.output_file,
            "--write-baseline": gate.write_baseline,
        }
        check_watchable(report.output, [name for name, given in once.items() if given])
        pauses = (looks.second_look_after, watch.interval, watch.look_count)
        watching = WatchRequest(connection, sources.sources, demands, *pauses)
        raise typer.Exit(show_watch(watching, report.output, invocation))
    if watch.look_count is not None:
        raise UsageError("--count was given, and not --watch.", "It ends a watch.", "Give --watch, or leave it out.")
    request = DiagnoseRequest(
        connection,
        looks.snapshot,
        tuple(paths or ()),
        sources.sources,
        second_look_after_ms=looks.second_look_after,
        save_snapshot=report.save_snapshot,
        gate=demands,
    )
    write_diagnosis(perform(diagnose, request, invocation), report, gate.write_baseline, invocation)
