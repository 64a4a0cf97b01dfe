"""Capture the evidence of a cluster in one file, read it again, and compare two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from eosctl import __version__
from eosctl.analysis.snapshot_diff import diff_snapshots
from eosctl.collect.bundles.bundle import Part, read_manifest, read_snapshot, write_bundle
from eosctl.collect.bundles.bundle_parts import data_dir_parts, log_parts
from eosctl.collect.bundles.snapshot_file import load_snapshot
from eosctl.errors import UsageError
from eosctl.model.bundle import BundleManifest, MissingPart
from eosctl.model.evidence import EvidenceGap
from eosctl.model.snapshot import ClusterSnapshot, SnapshotChange
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.collect_evidence import EvidenceRequest, collect_evidence
from eosctl.services.connection import Connection
from eosctl.services.sources import Sources, check_sources, read_sources


class Include(StrEnum):
    """What may go into a bundle in addition to the snapshot."""

    DATA_DIRS = "data-dirs"
    LOGS = "logs"
    JMX = "jmx"


class CaptureRequest(msgspec.Struct, frozen=True):
    """What to capture.

    Attributes:
        file: The bundle to write, a zip file.
        connection: The cluster.
        second_look_after_ms: The pause between the two passes over transactions, in milliseconds.
        include: The names of parts that must be there, of `Include`.
        data_dirs: Data directories of brokers.
        logs: Log files, and directories of them.
        programs: Metrics of programs.
    """

    file: Path
    connection: Connection = Connection()
    second_look_after_ms: int = 500
    include: tuple[str, ...] = ()
    data_dirs: tuple[Path, ...] = ()
    logs: tuple[Path, ...] = ()
    programs: Sources = Sources()


class Bundle(NamedTuple):
    """A bundle: its list of parts, and the evidence of the cluster."""

    manifest: BundleManifest
    snapshot: ClusterSnapshot


class SnapshotChanges(NamedTuple):
    """What changed up to the later of two snapshots."""

    after: ClusterSnapshot
    changes: tuple[SnapshotChange, ...]


def capture(request: CaptureRequest, callbacks: Callbacks = SILENT) -> Bundle:
    """Collect evidence, and write it into a bundle with secrets masked and the contents of records emptied.

    Raises:
        UsageError: The request names a part and not where it is, or a path that does not exist.
        EosctlError: The cluster cannot be read, or the file cannot be written.
    """
    parts = _included(request)
    check_sources(request.programs)
    wanted = EvidenceRequest(request.connection, second_look_after_ms=request.second_look_after_ms)
    # Judged whole and now: a bundle has the end of a long log, and `doctor --snapshot` reports what was found.
    sources = replace(request.programs, logs=request.logs)
    snapshot = read_sources(collect_evidence(wanted, callbacks), sources, callbacks).snapshot
    missing = [MissingPart(f"{gap.kind.value} of {gap.subject}", _why(gap)) for gap in snapshot.gaps]
    missing += [MissingPart(part.value, "not asked for (--include)") for part in Include if part not in parts]

    def contents() -> Iterator[Part]:
        yield from log_parts(request.logs, missing)
        yield from data_dir_parts(request.data_dirs, missing)

    return Bundle(write_bundle(request.file, snapshot, contents(), missing, __version__), snapshot)


def _why(gap: EvidenceGap) -> str:
    why = gap.error or gap.reason.value
    return f"{why}. {gap.next_step}" if gap.next_step else why


def read_bundle(file: Path) -> Bundle:
    """Return what a bundle holds.

    Raises:
        ConfigFileError: The file is not a bundle, or damaged.
    """
    return Bundle(read_manifest(file), read_snapshot(file))


def compare_snapshots(before: Path, after: Path, callbacks: Callbacks = SILENT) -> SnapshotChanges:
    """Return what changed between two bundles or saved snapshots; those of two clusters are remarked.

    Raises:
        ConfigFileError: A file cannot be read.
    """
    old, new = load_snapshot(before), load_snapshot(after)
    if old.cluster_id != new.cluster_id:
        clusters = f"{old.cluster_id or 'unknown'} and {new.cluster_id or 'unknown'}"
        callbacks.remark(f"warning: these are two clusters, {clusters}")
    return SnapshotChanges(new, tuple(diff_snapshots(old, new)))


def _included(request: CaptureRequest) -> frozenset[Include]:
    unknown = sorted(set(request.include) - set(Include))
    if unknown:
        raise UsageError(
            f"{', '.join(unknown)} cannot be included.",
            "A bundle can hold data-dirs, logs and jmx.",
            "Check --include.",
        )
    given: dict[Include, tuple[Sequence[Path | str], str]] = {
        Include.DATA_DIRS: (request.data_dirs, "--data-dir DIR"),
        Include.LOGS: (request.logs, "--logs PATH"),
        Include.JMX: (request.programs.metrics, "--jmx URL"),
    }
    parts = {Include(word) for word in request.include} | {part for part, (places, _) in given.items() if places}
    for part in sorted(parts):
        places, option = given[part]
        if not places:
            raise UsageError(
                f"--include {part.value} needs their location.", "A cluster does not report it.", f"Add {option}."
            )
        for place in places:
            if isinstance(place, Path) and not place.exists():
                raise UsageError(f"{place} does not exist.", "", f"Check {option}.")
    return frozenset(parts)
