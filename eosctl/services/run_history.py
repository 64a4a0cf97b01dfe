"""What a diagnosis found since the previous one of the same cluster."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

import msgspec

from eosctl.errors import ConfigFileError, EosctlError, UsageError
from eosctl.findings.diagnosis import CheckStatus, Diagnosis
from eosctl.findings.finding import Finding
from eosctl.text import count_text, time_text
from eosctl.user_folders import state_home
from eosctl.whole_file import only_writer, whole_file

_EVALUATED: Final = frozenset({CheckStatus.PASSED, CheckStatus.FAILED})


class PastFinding(msgspec.Struct, frozen=True):
    """A finding of a previous run."""

    fingerprint: str
    check_id: str
    text: str


class PastRun(msgspec.Struct, frozen=True):
    """The findings of a run, and when it was made, in ms since the epoch."""

    at_ms: int
    findings: tuple[PastFinding, ...] = ()


class SinceLast(msgspec.Struct, frozen=True):
    """The difference to the previous run.

    Attributes:
        last_at_ms: When that was, in ms since the epoch; None for the first run.
        new: The fingerprints of findings that it did not have.
        gone: Its findings that a check disproves now.
        unknown: Its findings whose checks lack evidence now.
    """

    last_at_ms: int | None
    new: frozenset[str] = frozenset()
    gone: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def compare_with_last(diagnosis: Diagnosis, at_ms: int) -> SinceLast:
    """Compare a diagnosis with the previous one of its cluster, and record it for the next comparison.

    A finding that is missing now is gone only if its check was evaluated in full; else it is unknown, and recorded
    again.

    Raises:
        UsageError: No cluster was read.
        ConfigFileError: The record is damaged.
        EosctlError: The record cannot be written.
    """
    if not diagnosis.cluster_id:
        raise UsageError(
            "--since-last was given, and no cluster was read.", "Runs are compared by cluster.", "Name a cluster: -b."
        )
    path = _file(diagnosis.cluster_id)
    try:
        with only_writer(path):
            return _compared(diagnosis, at_ms, path)
    except OSError as error:
        raise EosctlError(
            f"Cannot write {path}: {error.strerror}.",
            "The next run could not be compared with this one.",
            "Make the folder writable, or leave out --since-last.",
        ) from error


def _compared(diagnosis: Diagnosis, at_ms: int, path: Path) -> SinceLast:
    last = _read(path)
    present = {finding.fingerprint: finding for finding in diagnosis.findings}
    evaluated = {one.check_id for one in diagnosis.results if one.status in _EVALUATED and not one.incomplete}
    missing = [one for one in (() if last is None else last.findings) if one.fingerprint not in present]
    unknown = tuple(one for one in missing if one.check_id not in evaluated)
    recorded = tuple(PastFinding(key, one.check_id, describe(one)) for key, one in present.items())
    _write(path, PastRun(at_ms, (*recorded, *unknown)))
    if last is None:
        return SinceLast(None)
    known = {one.fingerprint for one in last.findings}
    return SinceLast(
        last_at_ms=last.at_ms,
        new=frozenset(present.keys() - known),
        gone=tuple(one.text for one in missing if one.check_id in evaluated),
        unknown=tuple(one.text for one in unknown),
    )


def describe(finding: Finding) -> str:
    """Return a finding as one line."""
    return f"{finding.check_id} {finding.title}: {finding.resource}"


def sentences(since: SinceLast, diagnosis: Diagnosis) -> tuple[str, ...]:
    """Return the difference as lines."""
    if since.last_at_ms is None:
        return (
            f"since last: the first run on this cluster; {count_text(len(diagnosis.findings), 'finding')} recorded",
        )
    new = [describe(finding) for finding in diagnosis.findings if finding.fingerprint in since.new]
    counts = f"{len(new)} new, {len(since.gone)} gone, {len(diagnosis.findings) - len(new)} as before"
    unknown = f", {len(since.unknown)} unknown" if since.unknown else ""
    return (
        f"since {time_text(since.last_at_ms)}: {counts}{unknown}",
        *(f"new: {text}" for text in new),
        *(f"gone: {text}" for text in since.gone),
        *(f"not evaluated in full this time: {text}" for text in since.unknown),
    )


def _file(cluster_id: str) -> Path:
    """Return the file of a cluster, whose id any server may choose."""
    name = hashlib.sha256(cluster_id.encode()).hexdigest()[:32]
    return state_home() / "eosctl" / "runs" / f"{name}.json"


def _read(path: Path) -> PastRun | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=PastRun)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        raise ConfigFileError(
            f"{path} cannot be read: {error}.", "It has the findings of the previous run.", "Remove it."
        ) from error


def _write(path: Path, run: PastRun) -> None:
    with whole_file(path) as file:
        file.write(msgspec.json.encode(run))
