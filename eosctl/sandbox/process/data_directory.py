"""The data directory of a sandbox: used by one process at a time, and never cleared of files that eosctl did not make.

A marker says that eosctl started with a new or an empty directory. Only files of a marked directory are removed, each
because its name is one that a node writes; what anybody else put there stays, and so do the directories around it.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from eosctl import __version__
from eosctl.errors import EosctlError, UsageError

LOCK_NAME: Final = ".eosctl-lock"
MARKER_NAME: Final = ".eosctl-sandbox"

_NODE: Final = re.compile(r"(broker|controller|node)-\d+(-dir\d+)?|logs|security")
_FILE: Final = re.compile(
    # Segments with their indexes, snapshots of the metadata, and what describes a log directory or a partition.
    r"(\d{20}\.(log|index|timeindex|txnindex|snapshot)(\.deleted|\.cleaned|\.swap)?"
    r"|(\d{20}-\d{10}|bootstrap)\.checkpoint(\.part|\.deleted)?"
    r"|[a-z-]+-checkpoint|meta\.properties|partition\.metadata|quorum-state|\.lock|\.kafka_cleanshutdown"
    # Logs, settings, processes, and the material of secured listeners.
    r"|(server|controller|state-change|log-cleaner|kafka-authorizer|kafka-request)\.log(\.[\d.-]+)?|jvm\.out"
    r"|server\.properties|node\.pid)(\.tmp)?"
)
_SECURITY_FILE: Final = re.compile(r"([^/]+\.(properties|pem)|users\.json)(\.tmp)?")


def check_data_directory(path: Path, *, ephemeral: bool) -> None:
    """Refuse a directory with files that are not a sandbox's.

    A kept sandbox may also start on files of a release without markers: its lock, or Kafka's meta.properties of a
    node, is there. An ephemeral one, which removes the files, needs the marker.

    Raises:
        UsageError: The directory holds something, and is not known to be a sandbox's.
    """
    try:
        is_used = any(path.iterdir())
    except OSError:
        return  # Not there yet; or the start will report why it cannot be used.
    if not is_used or (path / MARKER_NAME).is_file():
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


class DataDirectory:
    """The brokers' files, used by one process at a time."""

    def __init__(self, path: Path, *, ephemeral: bool = False) -> None:
        """Create, mark, and lock the directory.

        Raises:
            UsageError: It holds files that are not a sandbox's.
            EosctlError: It cannot be written, or another sandbox uses it.
        """
        self.path = path
        check_data_directory(path, ephemeral=ephemeral)
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
            content = {"version": __version__, "is_directory_created": is_created}
            (path / MARKER_NAME).write_text(json.dumps(content) + "\n", "utf-8")

    def release(self, *, remove: bool) -> None:
        """Unlock the directory, and first remove the sandbox's files when asked."""
        if remove:
            _remove_marked(self.path)
        os.close(self._lock)


def remove_data(path: Path) -> None:
    """Remove the files of a sandbox whose process is gone; without the marker, or while another uses them, none."""
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


def _remove_marked(path: Path) -> None:
    try:
        marker = json.loads((path / MARKER_NAME).read_bytes())
        is_created = marker["is_directory_created"] is True
    except (OSError, ValueError, TypeError, KeyError):
        return
    with suppress(OSError):
        for entry in list(path.iterdir()):
            # A symbolic link leads to files of somebody else.
            if _NODE.fullmatch(entry.name) and entry.is_dir() and not entry.is_symlink():
                _remove_files(entry, _SECURITY_FILE if entry.name == "security" else _FILE)
    for name in (MARKER_NAME, LOCK_NAME):
        (path / name).unlink(missing_ok=True)
    if is_created:
        with suppress(OSError):
            path.rmdir()


def _remove_files(folder: Path, own: re.Pattern[str]) -> None:
    """Remove files with the names of nodes, and directories that are empty then."""
    for at, folders, names in os.walk(folder, topdown=False):
        removed = [name for name in names if own.fullmatch(name)]
        if folder.name == "logs":  # Logs of real brokers are linked to.
            removed += [name for name in (*folders, *names) if _NODE.fullmatch(name) and Path(at, name).is_symlink()]
        for name in removed:
            with suppress(OSError):
                Path(at, name).unlink()
        with suppress(OSError):
            Path(at).rmdir()
