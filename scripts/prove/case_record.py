"""The record of a proof by case: the result of each case that has run, and the names of those that have not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from scripts.prove.catalog import Proof
from scripts.prove.runs import RECORDS, machine, shown, write_record


class CaseResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The kept result of a case.

    Attributes:
        case: Its name in pytest.
        release: The release of Kafka that it ran on, if its name contains one.
        digest: The digest of the code that it covers.
        test: The digest of the test and its helpers alone; empty in earlier records.
        duration_ms: Its duration, with the start of its brokers.
        last_lines: The end of its output, if it failed.
    """

    case: str
    release: str = ""
    passed: bool
    digest: str
    test: str = ""
    commit: str
    began_at: str
    duration_ms: int
    last_lines: tuple[str, ...] = ()


class Kept(msgspec.Struct, frozen=True):
    """The part of a record from which a later run continues."""

    results: tuple[CaseResult, ...] = ()


class Standing(NamedTuple):
    """The cases of a proof by what their results show of the current code."""

    passed: tuple[str, ...]
    failed: tuple[str, ...]
    earlier_code: tuple[str, ...]
    not_run: tuple[str, ...]

    @property
    def pending(self) -> tuple[str, ...]:
        """The cases that a run plays, those that nothing is known of first."""
        return (*self.not_run, *self.earlier_code, *self.failed)


def judge_cases(digests: Mapping[str, str], kept: Mapping[str, CaseResult]) -> Standing:
    """Divide the cases; a result of other code is neither a success nor a failure of this one."""
    current = {case: kept[case] for case in digests if case in kept and kept[case].digest == digests[case]}
    return Standing(
        passed=tuple(case for case, one in current.items() if one.passed),
        failed=tuple(case for case, one in current.items() if not one.passed),
        earlier_code=tuple(case for case in digests if case in kept and case not in current),
        not_run=tuple(case for case in digests if case not in kept),
    )


def write_cases(
    root: Path, name: str, proof: Proof, digests: Mapping[str, str], results: Iterable[CaseResult], commit: str
) -> Standing:
    """Write the record, and return how the cases stand."""
    ordered = sorted(results, key=lambda one: one.case)
    now = judge_cases(digests, {one.case: one for one in ordered})
    record = {
        "claim": proof.claim,
        "command": shown(proof),
        "commit": commit,
        "began_at": min((one.began_at for one in ordered), default=None),
        "duration_ms": sum(one.duration_ms for one in ordered),
        "machine": machine(),
        "succeeded": not now.pending,
        "cases": len(digests),
        "passed": len(now.passed),
        "failed": sorted(now.failed),
        "earlier_code": sorted(now.earlier_code),
        "not_run": sorted(now.not_run),
        "results": msgspec.to_builtins(ordered),
    }
    write_record(root, name, record)
    return now


def read_cases(root: Path, name: str) -> tuple[CaseResult, ...]:
    """Return the results of former runs."""
    path = root / RECORDS / f"{name}.json"
    return msgspec.json.decode(path.read_bytes(), type=Kept).results if path.exists() else ()
