"""Check from the files alone whether data directories contain what Kafka would have written."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from eosctl.analysis.fsck.diagnosis import diagnose_data_dirs
from eosctl.capacity.quantities import QuantityError, parse_bytes
from eosctl.collect.data_dirs import LIVE_BYTES_PER_S, inspect_data_dirs, is_in_use
from eosctl.collect.fsck_progress import FsckProgressFile
from eosctl.errors import EosctlError, ExitCode, UsageError
from eosctl.findings.finding import Finding
from eosctl.findings.fsck.checked import Checked
from eosctl.model.severity import Severity
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.gate import judge_run, read_gate, without_suppressed
from eosctl.services.gate_options import GateOptions
from eosctl.services.stopwatch import SYSTEM, Stopwatch
from eosctl.storage.survey import DataDirFacts, find_data_dirs, survey_data_dir
from eosctl.storage.throttled_reader import Read, ThrottledReader
from eosctl.text import count_text


class InspectRequest(msgspec.Struct, frozen=True):
    """The directories to check.

    Attributes:
        directories: Data directories (``log.dirs``) of the brokers of one cluster, copies of them, or directories
            above them.
        max_rate: Maximum bytes read per second, e.g. ``20MiB``; None for 50 MiB if a broker runs, else unlimited.
        second_look_after_ms: The pause before the second pass, if a broker is writing, in milliseconds.
        progress_file: Keeps the progress, so that an interrupted check continues there; None for no file.
        gate: The demands on the exit code; by default, warnings and worse fail the run.
    """

    directories: tuple[Path, ...]
    max_rate: str | None = None
    second_look_after_ms: int = 2_000
    progress_file: Path | None = None
    gate: GateOptions = GateOptions()


class InspectedFiles(NamedTuple):
    """The result of a check, all findings with those that are suppressed, and the exit code."""

    checked: Checked
    found: tuple[Finding, ...]
    exit_code: ExitCode


def inspect_files(
    request: InspectRequest, callbacks: Callbacks = SILENT, stopwatch: Stopwatch = SYSTEM
) -> InspectedFiles:
    """Check data directories, without changes. If a broker is writing, only findings of two passes count.

    Raises:
        UsageError: The rate is not a size, or a directory does not exist, contains no partition, or belongs to another
            cluster than the others; or the progress is not that of this check.
        ConfigFileError: The rules or the baseline cannot be read.
        EosctlError: A file cannot be read, or the progress cannot be written.
        KeyboardInterrupt: The user pressed Ctrl-C; a remark names the file with the progress.
    """
    gate = read_gate(request.gate, Severity.WARNING, has_score=False)
    rate = None if request.max_rate is None else _rate(request.max_rate)
    try:
        below = [one for directory in _distinct(request.directories) for one in find_data_dirs(directory)]
        surveyed = [survey_data_dir(directory) for directory in _distinct(below)]
        _refuse_two_clusters(surveyed)
        read = _reader(rate, surveyed, stopwatch)
        pause_s = request.second_look_after_ms / 1000
        with _progress(request.progress_file, surveyed, callbacks) as progress:
            found = inspect_data_dirs(surveyed, read, lambda: stopwatch.pause_s(pause_s), callbacks.progress, progress)
    except OSError as error:
        raise EosctlError(
            f"Cannot read {error.filename}.",
            error.strerror or str(error),
            "Run it as the user that the broker runs as.",
        ) from error
    if not found.partition_count and not found.findings:
        raise UsageError("No partition directory was found.", "", "Name data directories, as in log.dirs.")
    if found.is_live:
        callbacks.remark("a broker runs on these files: only warnings and errors that both readings found are reported")
    partitions = [path.name for facts in surveyed for path in facts.partitions]
    cluster_id = next((facts.cluster_id for facts in surveyed if facts.cluster_id), "")
    now_ms = callbacks.now_ms()
    everything = diagnose_data_dirs(found.findings, partitions, cluster_id, now_ms)
    diagnosis = without_suppressed(everything, gate, now_ms)
    directories = count_text(len(surveyed), "data directory", "data directories")
    about = f"Read: {count_text(found.partition_count, 'replica')} in {directories}."
    taken = "" if progress is None else progress.taken.text
    abouts = (about, taken) if taken else (about,)
    checked = Checked(
        diagnosis=diagnosis,
        found=tuple(found.findings),
        partition_count=found.partition_count,
        generated_at_ms=now_ms,
        about=abouts,
        taken=taken,
    )
    return InspectedFiles(checked, everything.findings, judge_run(diagnosis, gate.gate).exit_code)


def _reader(bytes_per_s: int | None, surveyed: Sequence[DataDirFacts], stopwatch: Stopwatch) -> Read:
    """Return the function that reads logs, with a limited rate if one is given or a broker runs."""
    if bytes_per_s is None and not is_in_use(surveyed):
        return os.pread
    return ThrottledReader(bytes_per_s or LIVE_BYTES_PER_S, *stopwatch).read


@contextmanager
def _progress(
    path: Path | None, surveyed: Sequence[DataDirFacts], callbacks: Callbacks
) -> Iterator[FsckProgressFile | None]:
    """Give the file with the progress: saved when the check ends early, and removed when it is complete."""
    if path is None:
        yield None
        return
    progress = FsckProgressFile(path, [facts.path for facts in surveyed], callbacks.now_ms())
    try:
        yield progress
    except BaseException:
        progress.save()
        callbacks.remark(f"progress saved to {path}: the same command continues there")
        raise
    progress.remove()


def _distinct(directories: Sequence[Path]) -> list[Path]:
    """Remove directories that are named twice, because a log is not a replica of itself."""
    for directory in directories:
        if not directory.is_dir():
            raise UsageError(f"{directory} is not a directory.", "", "Name data directories, as in log.dirs.")
    return list({directory.resolve(): directory for directory in reversed(directories)}.values())[::-1]


def _refuse_two_clusters(surveyed: Sequence[DataDirFacts]) -> None:
    """Refuse directories of several clusters, because equal names do not mean the same partitions."""
    named = {facts.cluster_id: facts.path for facts in reversed(surveyed) if facts.cluster_id}
    if len(named) > 1:
        (one, here), (other, there), *_ = reversed(named.items())
        raise UsageError(
            "The directories belong to different clusters.",
            f"meta.properties of {here} names the cluster {one}, that of {there} {other}.",
            "Check each cluster by itself.",
        )


def _rate(text: str) -> int:
    try:
        bytes_per_s = int(parse_bytes(text))
    except QuantityError as error:
        raise UsageError(f"--max-rate {text} is not a size.", str(error), "Write 20MiB, or 500kB.") from error
    if bytes_per_s <= 0:
        raise UsageError(f"--max-rate {text} is not a rate.", "", "Write 20MiB, or 500kB.")
    return bytes_per_s
