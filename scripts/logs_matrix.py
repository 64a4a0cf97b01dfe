"""Compare the verdicts of `eosctl logs report` with the known faults of logs.

Prints precision, recall, and F1 for each kind and cause; exits with 1 if any is below the limit.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final, NamedTuple

from eosctl.logs.incidents.judge import judge_incidents
from eosctl.logs.scan import scan_paths
from eosctl.model.incident import Incident
from eosctl.model.severity import Severity

_FIXTURES: Final = Path(__file__).resolve().parents[1] / "tests" / "fixtures"
SLACK_MS: Final = 15_000
"""The coordinator scans for old transactions every 10 s, so the first evidence may be that late."""


class Score(NamedTuple):
    """Verdicts of a kind and cause: right, wrong, and missed ones."""

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        """Return the share of right verdicts."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """Return the share of found faults."""
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0

    @property
    def f1(self) -> float:
        """Return the harmonic mean of both."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def score_scenarios(folders: Iterable[Path]) -> dict[str, Score]:
    """Score each kind and cause over labelled folders."""
    tally: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for folder in folders:
        truths: list[Mapping[str, Any]] = json.loads((folder / "truth.json").read_text("utf-8"))["truth"]
        scan = scan_paths([folder])
        found = list(judge_incidents(scan.events, scan.sources))
        for truth in truths:
            name = f"{truth['kind']} / {truth['expected_root_cause']}"
            match = next((one for one in found if agrees(one, truth, folder)), None)
            tally[name][2 if match is None else 0] += 1
            if match is not None:
                found.remove(match)
        for one in found:
            tally[f"{one.kind} / {one.root_cause}"][1] += 1
    return {name: Score(*counts) for name, counts in sorted(tally.items())}


def agrees(found: Incident, truth: Mapping[str, Any], folder: Path) -> bool:
    """Return whether a verdict matches a truth entry: kind, cause, time, subject, severity, and evidence."""
    if (found.kind, found.root_cause) != (truth["kind"], truth["expected_root_cause"]):
        return False
    start, end = _ms(truth["t_start"]), _ms(truth["t_end"])
    if found.t_end_ms < start or found.t_start_ms > end + SLACK_MS:
        return False
    if (truth["severity"] == "error") != found.severity.at_least(Severity.ERROR):
        return False
    return all(_names(found, name, value) for name, value in truth["subject"].items() if name in _COMPARED) and all(
        _has_evidence(found, pattern, folder) for pattern in truth["must_be_found_in"]
    )


_COMPARED: Final = frozenset(
    {"transactional.id", "transactional.ids", "group", "broker", "brokers", "principal", "application.id", "producerId"}
)


def _names(found: Incident, name: str, value: object) -> bool:
    named = found.subject.get(name, "")
    if isinstance(value, list):
        return {str(part) for part in value} <= set(named if isinstance(named, tuple) else (named,))
    return str(value) == named


def _has_evidence(found: Incident, pattern: str, folder: Path) -> bool:
    files = {Path(place.file).relative_to(folder).as_posix() for place in found.evidence}
    return any(fnmatch(file, form) for file in files for form in (pattern, f"{pattern}.*"))


def _ms(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


def report(scores: Mapping[str, Score]) -> Iterator[str]:
    """Yield the table line by line."""
    yield f"{'KIND / CAUSE':<72} {'RIGHT':>5} {'WRONG':>5} {'MISSED':>6} {'PREC':>5} {'REC':>5} {'F1':>5}"
    for name, one in scores.items():
        yield (
            f"{name:<72} {one.right:>5} {one.wrong:>5} {one.missed:>6} "
            f"{one.precision:>5.2f} {one.recall:>5.2f} {one.f1:>5.2f}"
        )


def main(arguments: Sequence[str]) -> int:
    """Score the given folders, or all fixtures."""
    folders = [Path(argument) for argument in arguments] or [
        truth.parent for truth in sorted(_FIXTURES.glob("logs*/*/truth.json"))
    ]
    scores = score_scenarios(folders)
    for line in report(scores):
        print(line)
    return 0 if all(score.f1 == 1.0 for score in scores.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
