"""The data directory of a sandbox. One process uses it at a time, and files of other programs are never deleted.

A marker file shows that eosctl started with a new or an empty directory, and records the nodes and users that it wrote
files for. In a marked directory, only files of a recorded node or user are deleted. All other files and their
directories stay.
"""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from eosctl import __version__
from eosctl.errors import EosctlError, UsageError
from eosctl.sandbox.process.own_files import SHARED_FOLDERS, Written, own_files
from eosctl.storage.atomic import replace_file

LOCK_NAME: Final = ".eosctl-lock"
MARKER_NAME: Final = ".eosctl-sandbox"


def check_data_directory(path: Path, *, ephemeral: bool, planned: Written) -> None:
    """Reject a directory with files that do not belong to a sandbox, or to one that this one cannot continue.

    A kept sandbox may also start on files of a release without markers, identified by its lock or by Kafka's
    `meta.properties` of a node. An ephemeral sandbox, which deletes the files, needs the marker.

    Raises:
        UsageError: The directory is not empty, and not known to belong to a sandbox; or the files are those of the
            other kind of brokers, of a later release, or of another quorum.
    """
    try:
        is_used = any(path.iterdir())
    except OSError:
        return  # The directory does not exist yet; or the start reports why it cannot be used.
    if not is_used:
        return
    if (path / MARKER_NAME).is_file():
        _check_continued(path, _written(_marker(path) or {}), planned)
        return
    is_older = (path / LOCK_NAME).is_file() or any(path.glob("*/meta.properties"))
    is_older = is_older or any(path.glob("node-*/data/meta.properties"))
    if is_older and not ephemeral:
        return
    if is_older:
        raise UsageError(
            f"The directory {path} has no marker that lets eosctl remove its files.",
            "It was used by an earlier release, and --ephemeral removes what the sandbox wrote when it stops.",
            "Start it without --ephemeral, or choose a new or empty --data-dir.",
        )
    raise UsageError(
        f"The directory {path} is not empty, and eosctl did not create its files.",
        "A sandbox writes and removes files in its data directory.",
        "Choose a new or empty --data-dir.",
    )


def _check_continued(path: Path, before: Written, planned: Written) -> None:
    """Reject files that the planned sandbox would not read, or would leave aside."""
    if not before.release:
        return  # It was marked by an earlier version of eosctl.
    choose = f"Choose another --name or --data-dir, or remove {path}."
    if before.is_real is not planned.is_real:
        kinds = ("brokers of eosctl", "real Kafka")
        present, other = kinds if before.is_real is False else kinds[::-1]
        raise UsageError(
            f"The files in {path} are those of {present} {before.release}.",
            f"With {other}, an empty cluster would start next to them.",
            f"Start it with --engine {'apache' if before.is_real else 'sandbox'}. {choose}",
        )
    if not planned.controllers <= before.nodes:
        raise UsageError(
            f"The cluster in {path} has its controllers in {', '.join(sorted(before.controllers))}.",
            f"With other numbers of nodes they are in {', '.join(sorted(planned.controllers))}: an empty cluster.",
            f"Start it with the numbers of brokers and controllers that it had. {choose}",
        )
    # Real Kafka judges its files itself: the way back to an earlier release can be rehearsed.
    if not planned.is_real and _numbers(planned.release) < _numbers(before.release):
        raise UsageError(
            f"The files in {path} were written by Kafka {before.release}, as emulated.",
            f"Kafka {planned.release} does not read the metadata of a later release.",
            f"Start it with --emulate {before.release}. {choose}",
        )


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(int(number) for number in release.split(".") if number.isdecimal())


class DataDirectory:
    """The brokers' files, used by one process at a time."""

    def __init__(self, path: Path, *, ephemeral: bool = False, planned: Written) -> None:
        """Create, mark, and lock the directory.

        Args:
            path: The directory.
            ephemeral: Whether the sandbox deletes its files when it stops.
            planned: The nodes and users that the sandbox will write files for.

        Raises:
            UsageError: It contains files that do not belong to a sandbox.
            EosctlError: It cannot be written, or another sandbox uses it.
        """
        self.path = path
        check_data_directory(path, ephemeral=ephemeral, planned=planned)
        try:
            is_created = not path.exists()
            path.mkdir(parents=True, exist_ok=True)
            self.is_new = not any(path.iterdir())
            self._lock = os.open(path / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise EosctlError(
                f"Cannot write to the data directory {path}.",
                error.strerror or str(error),
                "Make it writable or choose another --data-dir.",
            ) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._lock)
            raise EosctlError(
                f"The data directory {path} is in use by another sandbox.",
                "Two clusters on one set of files would destroy it.",
                "Stop the other one (eosctl sandbox status), or choose another --data-dir.",
            ) from error
        if self.is_new:
            _write_marker(path, {"version": __version__, "is_directory_created": is_created})
        self._planned = planned
        marker = _marker(path)
        if marker is not None:
            _write_marker(path, {**marker, **_recorded(path, _written(marker), planned)})

    @property
    def lock(self) -> int:
        """Return the descriptor of the lock. A process that inherits it holds the lock, too."""
        return self._lock

    def started(self) -> None:
        """Record the release of the brokers that now write the files."""
        marker = _marker(self.path)
        if marker is not None:
            _write_marker(self.path, {**marker, **_state_of(self._planned)})

    def release(self, *, remove: bool) -> None:
        """Unlock the directory; first delete the sandbox's files if `remove` is set."""
        if remove:
            _remove_marked(self.path)
        os.close(self._lock)


def remove_data(path: Path) -> None:
    """Delete the files of a sandbox with a stopped process.

    Deletes nothing without the marker, or while another sandbox uses the files.
    """
    try:
        lock = os.open(path / LOCK_NAME, os.O_RDWR)
    except OSError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove_marked(path)
    except BlockingIOError:
        return
    finally:
        os.close(lock)


def files_left(path: Path) -> list[str]:
    """Return the paths, relative to the directory, that remain after the sandbox's files are deleted."""
    return sorted(str(file.relative_to(path)) for file in path.rglob("*") if file.is_symlink() or not file.is_dir())


def _marker(path: Path) -> dict[str, Any] | None:
    try:
        marker = json.loads((path / MARKER_NAME).read_bytes())
    except (OSError, ValueError):
        return None
    return marker if isinstance(marker, dict) else None


def _write_marker(path: Path, marker: dict[str, Any]) -> None:
    replace_file(path / MARKER_NAME, (json.dumps(marker) + "\n").encode())


def _written(marker: dict[str, Any]) -> Written:
    # This program creates no links that lead outside of the directory.
    nodes, users, controllers = (
        frozenset(name for name in marker.get(key, ()) if isinstance(name, str) and "/" not in name and name != "..")
        for key in ("nodes", "users", "controllers")
    )
    return Written(nodes, users, controllers, str(marker.get("release", "")), marker.get("is_real") is True)


def _recorded(path: Path, before: Written, planned: Written) -> dict[str, Any]:
    """Return the new record: a node's directory that already exists belongs to another program.

    A start that fails leaves the files those of the release before.
    """
    new = {name for name in planned.nodes if not os.path.lexists(path / name)}
    return {
        "nodes": sorted(before.nodes | new),
        "users": sorted(before.users | planned.users),
        **_state_of(before if before.release else planned),
    }


def _state_of(written: Written) -> dict[str, Any]:
    return {"controllers": sorted(written.controllers), "release": written.release, "is_real": written.is_real}


def _remove_marked(path: Path) -> None:
    marker = _marker(path)
    if marker is None:
        return
    written = _written(marker)
    folders = set()
    for file in list(own_files(path, written)):
        with suppress(OSError):
            file.unlink()
        folders |= set(file.parents) - {path, *path.parents}
    # A process that was killed while it deleted its files has left folders without any.
    folders |= {Path(folder) for own in (*written.nodes, *SHARED_FOLDERS) for folder, _, _ in os.walk(path / own)}
    for folder in sorted(folders, key=lambda folder: len(folder.parts), reverse=True):
        with suppress(OSError):  # Not empty: it contains files of other programs.
            folder.rmdir()
    for name in (MARKER_NAME, LOCK_NAME):
        (path / name).unlink(missing_ok=True)
    if marker.get("is_directory_created") is True:
        with suppress(OSError):
            path.rmdir()
