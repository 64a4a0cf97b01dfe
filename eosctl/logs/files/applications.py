"""Derive the program that writes a file from the file's name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from eosctl.logs.files.hosts import pod_of_path

_SERVER_FILES: Final = frozenset(
    [
        "server",
        "controller",
        "state-change",
        "log-cleaner",
        "kafka-authorizer",
        "kafkaserver-gc",
        "kafka-request",
        "connect",
        "kafkaserver",
        "kafkaserver-out",
    ]
)
_ANY_FOLDER: Final = frozenset(
    {
        *("in", "out", "input", "output", "log", "logs", "tmp", "temp", "data", "files", "download", "downloads"),
        *("desktop", "case", "bundle", "support", "incident", "attachments", "var", "work"),
    }
)
"""Names of folders that do not name what writes the files in them."""
_OF_PROGRAM: Final = frozenset({"log", "logs", "data"})
"""Those of them that programs have in a folder of their own, as in ``broker-1/logs/server.log``."""
_ROTATION: Final = re.compile(
    r"(?:\.(?:gz|bz2|xz|zst|lz4|snappy|sz|\d{1,3}|current|out|err|stdout|stderr|log|json|txt|jsonl|ndjson|\d{4}-\d\d-\d\d(?:-\d\d)?)|-\d{4}-?\d\d-?\d\d)$"
)


def application_of(path: Path) -> str:
    """Return the program that writes a file: the folder for a Kafka server's files, the container for the kubelet's.

    For any other file, it is the stem without the rotation's suffix, and so it is in a folder that names no program.
    """
    if pod := pod_of_path(path):
        return pod[1]
    stem = _stem(path)
    if stem.lower() not in _SERVER_FILES:
        return stem
    folder = path.absolute().parent
    while folder.name.lower() in _OF_PROGRAM:
        folder = folder.parent
    return stem if is_any_folder(folder.name) else folder.name or stem


def is_named_after_file(path: Path, application: str) -> bool:
    """Return whether an application has only the name of its file or of any folder, which need not name a program."""
    if pod_of_path(path) is not None:
        return False
    return application == _stem(path) or (application == path.absolute().parent.name and is_any_folder(application))


def is_any_folder(name: str) -> bool:
    """Return whether a folder's name does not name the program that writes the files in it."""
    return name.lower() in _ANY_FOLDER


def _stem(path: Path) -> str:
    """Return a file's name without the endings of formats and rotation."""
    stem = path.name
    while (shorter := _ROTATION.sub("", stem)) not in ("", stem):
        stem = shorter
    return stem
