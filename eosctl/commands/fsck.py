"""``eosctl fsck``: whether data directories hold what Kafka would have written, from the files alone."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.diagnosis_output import note_suppressed, write_baseline_file
from eosctl.commands.gate import (
    BaselineFile,
    ExitZero,
    FailOnWarning,
    RequireComplete,
    RulesFile,
    WriteBaseline,
)
from eosctl.commands.invocation import invocation_of, note, write_result
from eosctl.commands.options import FindingOutput, Header, OutputFile, SecondLookAfter
from eosctl.errors import EosctlError, UsageError
from eosctl.model.severity import Severity
from eosctl.render.formats import FOR_PEOPLE, FindingFormat

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
    output: FindingOutput = FindingFormat.TABLE,
    header: Header = None,
    output_file: OutputFile = None,
    fail_on: FailOnWarning = None,
    exit_zero: ExitZero = False,
    require_complete: RequireComplete = False,
    baseline: BaselineFile = None,
    write_baseline: WriteBaseline = None,
    rules: RulesFile = None,
) -> None:
    """Check data directories: logs, indexes, snapshots, checkpoints, and transactions across them.

    Only reads. If a broker is writing to a directory, only problems found in two passes are reported. Exit codes: 0 no
    finding at or above --fail-on (a warning, unless named), 2 usage, 3 findings, 4 with --require-complete when a
    partition was not checked or a transaction is undecided.
    """
    from eosctl.analysis.fsck.diagnosis import diagnose_data_dirs
    from eosctl.collect.data_dirs import inspect_data_dirs
    from eosctl.render.fsck import Checked, render_repair_plan
    from eosctl.render.fsck_report import render_fsck_findings
    from eosctl.render.progress import show_progress
    from eosctl.services.gate import judge_run, read_gate, without_suppressed
    from eosctl.services.gate_options import GateOptions
    from eosctl.storage.survey import survey_data_dir
    from eosctl.text import count_text

    invocation = invocation_of(context)
    options = GateOptions(fail_on, exit_zero, require_complete, None, baseline, rules)
    gate = read_gate(options, Severity.WARNING, has_score=False)
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
    partitions = [path.name for facts in surveyed for path in facts.partitions]
    cluster_id = next((facts.cluster_id for facts in surveyed if facts.cluster_id), "")
    now_ms = invocation.now_ms()
    diagnosis = diagnose_data_dirs(found.findings, partitions, cluster_id, now_ms)
    write_baseline_file(diagnosis.findings, write_baseline)
    diagnosis = without_suppressed(diagnosis, gate, now_ms)
    directories_read = count_text(len(surveyed), "data directory", "data directories")
    about = f"Read: {count_text(found.partition_count, 'replica')} in {directories_read}."
    checked = Checked(diagnosis, tuple(found.findings), found.partition_count, now_ms, (about,))
    if repair_plan and output in FOR_PEOPLE:
        text = render_repair_plan(checked, invocation.style())
    else:
        text = render_fsck_findings(checked, output, invocation.style(), header=header)
    write_result(text, output_file)
    note_suppressed(diagnosis, output)
    raise typer.Exit(judge_run(diagnosis, gate.gate).exit_code)


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
