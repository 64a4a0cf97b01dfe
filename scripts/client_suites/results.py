"""Results of suites, which a later run of the proof takes from the work folder."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from scripts.client_suites.compare import Comparison
from scripts.prove.runs import git

RESULT: Final = "result.json"
ROOT: Final = Path(__file__).parents[2]


class Begin(NamedTuple):
    """The code of a run, and its time."""

    commit: str
    began_at: str


class SuiteResult(NamedTuple):
    """A suite on both engines, with the commit of the project and the time of its run."""

    commit: str
    began_at: str
    comparison: Comparison


def begin_of_run() -> Begin:
    """Return the commit and the time of a run that begins now."""
    return Begin(git(ROOT, "rev-parse", "HEAD"), datetime.now(UTC).isoformat(timespec="seconds"))


def keep_result(work: Path, result: SuiteResult) -> SuiteResult:
    """Write a result to the work folder of its suite, and return it."""
    (work / RESULT).write_bytes(msgspec.json.encode(result))
    return result


def kept_result(work: Path) -> SuiteResult | None:
    """Return the result of an earlier run in this work folder, if there is one."""
    try:
        return msgspec.json.decode((work / RESULT).read_bytes(), type=SuiteResult)
    except FileNotFoundError:
        return None


def details_of(result: SuiteResult | str) -> dict[str, object]:
    """Return a result for the record of the proof."""
    if isinstance(result, str):
        return {"not_run": result}
    return {"commit": result.commit, "began_at": result.began_at, **result.comparison._asdict()}
