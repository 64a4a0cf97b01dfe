"""Compare what `eosctl logs report` finds in posted reports with their right answers.

`python -m tests.logs.posted_reports` prints what differs; with `--update` it removes the line `wrong_today` of reports
that are right now, and adds one to those that are wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from eosctl.model.incident import Incident
from eosctl.model.severity import Severity
from eosctl.render.logs.floods import worst_first
from eosctl.services.callbacks import Callbacks
from eosctl.services.judge_logs import judge_logs
from eosctl.services.mine_logs import MineRequest

FOLDER: Final = Path(__file__).parents[1] / "fixtures" / "posted-reports"
ANSWER: Final = "answer.toml"
#: When the files were changed last and the report is made: records without a date get theirs from it.
_NOW: Final = datetime(2026, 12, 1, tzinfo=UTC)
_TOLERANCE_S: Final = 5
_LONGEST_REASON: Final = 300


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The right answer to a report.

    Attributes:
        title: The report in a sentence.
        kind: Matches kind and cause of the incident that a report must list first; None if nothing is wrong.
        subject: Texts that its subject must contain as whole words.
        start: When it began, as any of these times; a time without a day where the log has no day.
        severity: The severities that it may have; of a report without `kind`, those that any incident may have.
        most: The maximum number of incidents of severity error or critical.
        says: Each matches the texts of the incident.
        never: None matches an incident of the report.
        recovered: Matches the explanation, where the log shows that the fault is over; None where it does not.
        wrong_today: What is wrong with the report today, in a sentence; None if it is right.
    """

    title: str
    kind: str | None = None
    subject: tuple[str, ...] = ()
    start: str | tuple[str, ...] = ()
    severity: tuple[Severity, ...] = (Severity.INFO,)
    most: int = 0
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    recovered: str | None = None
    wrong_today: str | None = None


class PostedReport(NamedTuple):
    """A report: the folder with its files, and its answer."""

    folder: Path
    answer: Answer

    @property
    def name(self) -> str:
        """Return the name of the report, e.g. `10-19-ordinary-kraft-broker`."""
        return self.folder.name


def read_posted_reports() -> Iterator[PostedReport]:
    """Read the reports of the fixtures, by name."""
    for path in sorted(FOLDER.glob(f"*/{ANSWER}")):
        yield PostedReport(path.parent, msgspec.toml.decode(path.read_bytes(), type=Answer))


def find_incidents(report: PostedReport, folder: Path) -> list[Incident]:
    """Copy the files of a report into an empty folder, and return its incidents as `eosctl logs report` lists them."""
    names = sorted(path.name for path in report.folder.iterdir() if path.name != ANSWER)
    for name in names:
        shutil.copyfile(report.folder / name, folder / name)
        os.utime(folder / name, (_NOW.timestamp(),) * 2)
    place = folder / names[0] if len(names) == 1 else folder
    judged = judge_logs(MineRequest((place,)), callbacks=Callbacks(lambda: int(_NOW.timestamp() * 1000)))
    return list(worst_first(judged.report.findings.incidents))


def differences(answer: Answer, incidents: Sequence[Incident]) -> list[str]:
    """Return what differs from the answer, a clause for each expectation; empty if the report is right."""
    return [*_differences_of_all(answer, incidents), *_differences_of_first(answer, incidents)]


def _differences_of_all(answer: Answer, incidents: Sequence[Incident]) -> Iterator[str]:
    if answer.kind is None:
        worse = [_title(one) for one in incidents if one.severity not in answer.severity]
        if worse:
            yield f"nothing is wrong, but reports {', '.join(worse)}"
    elif (count := sum(one.severity.at_least(Severity.ERROR) for one in incidents)) > answer.most:
        yield f"{count} incidents of severity error or critical instead of {answer.most}"
    for pattern in answer.never:
        if any(re.search(pattern, _texts(one)) for one in incidents):
            yield f"claims {pattern!r}"


def _differences_of_first(answer: Answer, incidents: Sequence[Incident]) -> Iterator[str]:
    if answer.kind is None:
        return
    if not incidents:
        yield f"no incident instead of {answer.kind!r}"
        return
    first = incidents[0]
    if not re.search(answer.kind, f"{first.kind}: {first.root_cause}"):
        yield f"{_title(first)} instead of {answer.kind!r}"
        return
    subject = _subject(first)
    for text in answer.subject:
        if not re.search(rf"(?<!\w){re.escape(text)}(?!\w)", subject):
            yield f"the subject lacks {text!r}"
    starts = (answer.start,) if isinstance(answer.start, str) else answer.start
    if starts and not any(_is_near(first.t_start_ms, one) for one in starts):
        yield f"begins at {_time(first.t_start_ms)} instead of {' or '.join(starts)}"
    if first.severity not in answer.severity:
        yield f"severity {first.severity} instead of {' or '.join(answer.severity)}"
    for pattern in answer.says:
        if not re.search(pattern, _texts(first)):
            yield f"lacks {pattern!r}"
    if answer.recovered is not None and not re.search(answer.recovered, first.explanation):
        yield f"does not report the recovery {answer.recovered!r}"


def _title(one: Incident) -> str:
    return f"{one.severity} {one.kind}: {one.root_cause}"


def _texts(one: Incident) -> str:
    return f"kind: {one.kind}: {one.root_cause}\n{one.explanation}\n{one.next_step}"


def _subject(one: Incident) -> str:
    values = [[value] if isinstance(value, str) else value for value in one.subject.values()]
    return "\n".join(text for texts in values for text in texts)


def _time(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1000, UTC).isoformat(timespec="milliseconds")


def _is_near(time_ms: int, expected: str) -> bool:
    """Return whether a time is within 5 s of the expected one, on the day of the time if that has none."""
    found = datetime.fromtimestamp(time_ms / 1000, UTC)
    dated = expected if "T" in expected else f"{found:%Y-%m-%d}T{expected}Z"
    return abs((found - datetime.fromisoformat(dated)).total_seconds()) <= _TOLERANCE_S


def with_reason(text: str, reason: str | None) -> str:
    """Return the text of an answer with this line `wrong_today`, without one for None.

    >>> with_reason('title = "a"\\nwrong_today = "b"\\n', None)
    'title = "a"\\n'
    """
    kept = [line for line in text.splitlines() if not line.startswith("wrong_today = ")]
    # A JSON string of printable text is a basic string of TOML.
    added = [] if reason is None else [f"wrong_today = {json.dumps(reason, ensure_ascii=False)}"]
    return "\n".join([*kept, *added, ""])


def _update(report: PostedReport, reason: str | None) -> None:
    path = report.folder / ANSWER
    path.write_text(with_reason(path.read_text("utf-8"), reason), "utf-8")


def main() -> int:
    """Print the reports that are wrong; return 0 if those are the ones that `wrong_today` names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--update", action="store_true", help="Add and remove the lines wrong_today.")
    parser.add_argument("names", nargs="*", help="Beginnings of names; all reports by default.")
    options = parser.parse_args()
    chosen = [one for one in read_posted_reports() if one.name.startswith(tuple(options.names or [""]))]
    wrong = changed = 0
    for report in chosen:
        with tempfile.TemporaryDirectory() as folder:
            found = differences(report.answer, find_incidents(report, Path(folder)))
        wrong += bool(found)
        if found:
            print(f"{report.name}: {'; '.join(found)}")
        if bool(found) == (report.answer.wrong_today is not None):
            continue
        changed += 1
        print(f"{report.name}: {'newly wrong' if found else 'right now'}")
        if options.update:
            _update(report, "; ".join(found)[:_LONGEST_REASON] if found else None)
    print(f"{len(chosen) - wrong} of {len(chosen)} reports are right; {changed} differ from their lines wrong_today.")
    return 0 if options.update or not changed else 1


if __name__ == "__main__":
    sys.exit(main())
