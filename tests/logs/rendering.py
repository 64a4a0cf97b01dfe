"""Recorded scenarios in memory, so that tests can write the same records down in other ways."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from scripts.logs_matrix import score_scenarios

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs"
TRUTH = "truth.json"
Files = Mapping[str, str]

_DAY = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]\d{3}"
STAMP = re.compile(rf'^(?:\[|\{{"@timestamp":")?(?P<day>{_DAY})|^%\d\|(?P<epoch>\d+\.\d{{3}})\|', re.MULTILINE)
"""The stamps of the recorded layouts: Kafka's, Spring Boot's, logback's, Python's, JSON and librdkafka's."""


class Stamped(NamedTuple):
    """The lines of one record."""

    at: datetime
    lines: tuple[str, ...]


def load(scenario: str) -> Files:
    """Return the files of a recorded scenario, decompressed, by their names in it."""
    folder = FIXTURES / scenario
    found = {}
    for path in sorted(file for file in folder.rglob("*") if file.is_file()):
        data = path.read_bytes()
        name = path.relative_to(folder).as_posix().removesuffix(".gz")
        found[name] = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return found


def stamped(text: str) -> Iterator[Stamped]:
    """Part a file where a line begins with a stamp; what is before the first one is left out."""
    starts = [found.start() for found in STAMP.finditer(text)]
    for start, end in zip(starts, (*starts[1:], len(text)), strict=False):
        stamp = STAMP.match(text[start:end])
        assert stamp
        yield Stamped(_instant(stamp), tuple(text[start:end].splitlines()))


def shifted(text: str, by: timedelta) -> str:
    """Write a file as a host with another clock would have."""

    def move(found: re.Match[str]) -> str:
        at = _instant(found) + by
        day = found["day"]
        stamp = (
            f"{at:%Y-%m-%d}{day[10]}{at:%H:%M:%S}{day[19]}{at.microsecond // 1000:03}"
            if day
            else f"{at.timestamp():.3f}"
        )
        return found[0].replace(day or found["epoch"], stamp)

    return STAMP.sub(move, text)


def verdicts_stay(folder: Path, files: Files) -> None:
    """Write a scenario down and fail unless its verdicts are those of its truth."""
    for name, text in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    scores = score_scenarios([folder])
    assert scores
    assert {name: (score.wrong, score.missed) for name, score in scores.items()} == dict.fromkeys(scores, (0, 0))


def _instant(stamp: re.Match[str]) -> datetime:
    if stamp["epoch"]:
        return datetime.fromtimestamp(float(stamp["epoch"]), UTC)
    return datetime.fromisoformat(stamp["day"].replace(",", ".")).replace(tzinfo=UTC)
