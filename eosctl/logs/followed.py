"""Judge whether followed logs were understood: a watch that shows nothing is not evidence of health."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import tzinfo
from pathlib import Path

from eosctl.logs.coverage import NAMES_ONLY
from eosctl.logs.files.sources import SourceFile, Unread, find_files, inspect_file
from eosctl.model.log_event import LogEvent


class FollowedFiles:
    """Remembers the files in which records of the catalog were found, and names those that are not followed.

    Args:
        paths: Files and folders.
        zone: The time zone of timestamps without an offset.
        remark: Called once for each file that is not followed.
    """

    def __init__(self, paths: Iterable[Path], zone: tzinfo | None, remark: Callable[[str], None]) -> None:
        self._paths, self._zone, self._remark = tuple(paths), zone, remark
        self._understood: set[str] = set()
        self._remarked: set[str] = set()

    def saw(self, events: Iterable[LogEvent]) -> None:
        """Take in events that were read."""
        self._understood.update(event.file for event in events if event.category not in NAMES_ONLY)

    def gaps(self) -> tuple[str, ...]:
        """Return the files that are not followed now, each with the reason."""
        found = tuple(f"{one.name}: {one.reason}" for one in unread_of(self._paths, self._zone, self._understood))
        for gap in found:
            if gap not in self._remarked:
                self._remark(f"Not followed: {gap}.")
        self._remarked.update(found)
        return found


def unread_of(paths: Iterable[Path], zone: tzinfo | None, understood: Collection[str] = ()) -> tuple[Unread, ...]:
    """Return the files that cannot be followed, or in which no log record is recognized.

    Files that are not logs, such as a picture next to them, are left out as soon as there is a log.

    Args:
        paths: Files and folders.
        zone: The time zone of timestamps without an offset.
        understood: The files with events of the catalog, by name.

    Returns:
        The unread files; one that stands for all paths if there is no file.
    """
    given = tuple(paths)
    unread: list[Unread] = []
    has_log = False
    for path in find_files(given):
        one = _unread(path, zone, understood)
        if one is None:
            has_log = True
        else:
            unread.append(one)
    if given and not has_log and not unread:
        return (Unread(str(given[0]), "no log file", True),)
    return tuple(one for one in unread if one.is_failure or not has_log)


def _unread(path: Path, zone: tzinfo | None, understood: Collection[str]) -> Unread | None:
    found = inspect_file(path, zone)
    if not isinstance(found, SourceFile):
        return found
    if found.name in understood or found.verdict.has_headers:
        return None
    # A damaged archive has no beginning.
    is_empty = found.splittable and not found.beginning.strip()
    return Unread(found.name, "the file is empty" if is_empty else "no log record was recognized", not is_empty)
