"""Write files atomically, results only over results of their kind, and lock state files.

The kind of a result is its format with the schema, command, or metric that its beginning names. So a table of settings
never replaces a record with people's answers, a bundle with the evidence of an incident, or notes about eosctl.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

#: Only the owner can read eosctl's own state, regardless of the folder's permissions.
OWNER_ONLY: Final = 0o600
_STDOUT: Final = 1
_STDERR: Final = 2
_DASH: Final = Path("-")
"""What most programs take for standard output."""
#: How many bytes of a file decide.
HEAD_BYTES: Final = 4096
# In the head of every page.
_GENERATOR: Final = b'<meta name="generator" content="eosctl">'
# JSON, SARIF, YAML, markdown, JUnit, pages, Prometheus, GitHub, grades, scripts, and bundles. What differs between
# kinds of one format is captured.
_BEGINNINGS: Final = (
    rb'\{\s*"schema":\s*"(eosctl\.[a-z-]+)"',
    rb'\{\s*"\$schema":[^{]*"runs":\s*\[\s*\{\s*"automationDetails":\s*\{\s*"id":\s*"(eosctl/[a-z -]+)[/"]',
    rb"schema: (eosctl\.[a-z-]+)\n",
    rb"# (eosctl [a-z][a-z -]*)\n",
    rb'<\?xml [^>]*>\s*<testsuites [^>]*name="(eosctl [a-z][a-z -]*)"',
    rb"<!doctype html>.*" + re.escape(_GENERATOR) + rb".*<title>(eosctl [a-z][a-z -]*)[:<]",
    rb"<!doctype html>.*" + re.escape(_GENERATOR) + rb"(?!.*<title>eosctl )()",
    rb"# HELP (eosctl_\w+) ",
    rb"::notice title=(eosctl [a-z][a-z -]*)(?:%3A|::)",
    rb"(?:# )?(?:Grade [A-F] \(|No grade)()",
    rb"#!/bin/sh\n# (eosctl [a-z][a-z -]*)\n",
    rb"PK\x03\x04.{26}snapshot\.json()",
    # The export for Grafana.
    rb'\{\s*"uid": "eosctl-exactly-once"()',
)
_OWN: Final = re.compile(b"|".join(b"(?:" + one + b")" for one in _BEGINNINGS), re.DOTALL)
# Two results of one command often begin with the same line; so do any two pages, scripts, and JSON documents, and the
# templates that people fill in begin with a comment.
_COMMON: Final = (b"<", b"{", b"[", b"#", b"---")
_LINE_BYTES: Final = 16
#: The number of the format, and what it names.
Kind = tuple[int, bytes]


@contextmanager
def whole_file(path: Path, *, is_private: bool = True) -> Iterator[BinaryIO]:
    """Give a file to write to, which takes the place of ``path`` at the end of the block.

    After an error ``path`` is what it was, and the unfinished file is removed; the next writer of ``path`` removes that
    of a process that was killed.

    Args:
        path: The file to write or replace; its folder exists.
        is_private: Only its owner may read it. Otherwise a new file gets the user's ordinary permissions, and one that
            is replaced keeps its own.

    Raises:
        OSError: It cannot be written, or this user cannot leave it to its owner and group.
    """
    _remove_abandoned(path)
    unfinished, descriptor = _open_unfinished(path, OWNER_ONLY if is_private else 0o666)
    lock = os.dup(descriptor)  # Held until the file has its name, after it was closed and so written.
    try:
        with os.fdopen(descriptor, "wb") as file:
            if path.exists():
                _keep_access(file.fileno(), path.stat(), is_private=is_private)
            yield file
        unfinished.replace(path)
    except BaseException as error:
        unfinished.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:  # The error of a write has none.
            error.filename = str(path)
        raise
    finally:
        os.close(lock)


def _open_unfinished(path: Path, mode: int) -> tuple[Path, int]:
    """Make the file that takes the place of another, under a name of its own and locked while it is written."""
    while True:
        unfinished = path.with_name(f".{path.name}.{os.urandom(4).hex()}.tmp")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(unfinished, flags, mode)
        with suppress(OSError):  # A file system without locks: the file is only not removed after a kill.
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        # Another process may have taken it for abandoned before it was locked.
        if os.path.lexists(unfinished):
            return unfinished, descriptor
        os.close(descriptor)


def _remove_abandoned(path: Path) -> None:
    """Remove unfinished files of ``path`` that killed processes of this user left."""
    own = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{8}}\.tmp")
    with suppress(OSError):
        for unfinished in path.parent.iterdir():
            if own.fullmatch(unfinished.name):
                _remove_unlocked(unfinished)


def _remove_unlocked(unfinished: Path) -> None:
    with suppress(OSError):
        descriptor = os.open(unfinished, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            found = os.fstat(descriptor)
            if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                unfinished.unlink()
        finally:
            os.close(descriptor)


def _keep_access(descriptor: int, before: os.stat_result, *, is_private: bool) -> None:
    """Give a new file the owner, group, and permissions of the one that it replaces, where they differ."""
    made = os.fstat(descriptor)
    if (made.st_uid, made.st_gid) != (before.st_uid, before.st_gid):
        os.fchown(descriptor, before.st_uid, before.st_gid)
    if not is_private:
        os.fchmod(descriptor, before.st_mode & 0o777)


@contextmanager
def result_file(path: Path, beginning: bytes, *, is_private: bool = False) -> Iterator[BinaryIO]:
    """Give a file to write a result to: `whole_file` behind a link, and a stream, a device, or a pipe as it stands.

    Args:
        path: Where the result goes; its folder exists.
        beginning: The result, or its beginning, to recognize an earlier one.
        is_private: Whether only the owner may read a new file.

    Raises:
        FileExistsError: It is a file that eosctl did not write, or a result of another kind.
        OSError: It cannot be written, or is a pipe that no program reads.
    """
    stream = _stream_of(path)
    if stream is not None or (path.exists() and not path.is_file()):
        with os.fdopen(_open_special(path) if stream is None else os.dup(stream), "wb") as file:
            yield file
        return
    target = _target_of(path)
    _refuse_foreign_file(target, beginning)
    with whole_file(target, is_private=is_private) as file:
        yield file


def _target_of(path: Path) -> Path:
    """Return the file behind a link: the link stays, and leads to the new content."""
    with suppress(FileNotFoundError):
        path.stat()  # Refuses a loop of links, as `resolve` does, with an error that is the system's.
    return path.resolve()


def is_standard_output(path: Path) -> bool:
    """Return whether standard output goes to this file, such as /dev/stdout, or it is called ``-``."""
    return _stream_of(path) == _STDOUT


def _stream_of(path: Path) -> int | None:
    """Return the standard stream that writes to a file; replacing the file would lose what the stream writes."""
    if path == _DASH:
        return _STDOUT
    with suppress(OSError):
        named = path.stat()
        for stream in (_STDOUT, _STDERR):
            with suppress(OSError):  # The stream is closed.
                if os.path.samestat(named, os.fstat(stream)):
                    return stream
    return None


def _open_special(path: Path) -> int:
    """Open a device or a pipe; opening a pipe without a reader would wait for one."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError as error:
        if error.errno == errno.ENXIO and path.is_fifo():
            raise OSError(errno.ENXIO, "It is a pipe, and no program reads from it", str(path)) from error
        raise
    os.set_blocking(descriptor, True)
    return descriptor


def open_private(path: Path) -> BinaryIO:
    """Open a file of eosctl's own to append to it; only its owner may read it, also if it was made with other access.

    Raises:
        OSError: It cannot be opened, or is a link.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, OWNER_ONLY)
    os.fchmod(descriptor, OWNER_ONLY)
    return os.fdopen(descriptor, "ab")


@contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Hold the lock of a state file from reading it to writing it, so that no change of another process is lost.

    The lock is a file of its own next to ``path``: ``path`` itself is replaced. Waits for other holders.

    Raises:
        OSError: The folder or the lock cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path.with_name(f".{path.name}.lock"), flags, OWNER_ONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def only_writer_in(folder: Path) -> Iterator[None]:
    """Hold the lock of a user's folder while a file in it is compared and replaced; it leaves no file of its own there.

    Without a lock where the file system has none, or the folder cannot be read.
    """
    descriptor = -1
    try:
        with suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _refuse_foreign_file(path: Path, content: bytes) -> None:
    """Refuse to replace a file that is not empty and neither has this content nor is a result of its kind."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if not head or is_same_kind(head, content):
        return
    reason = "is not a result of eosctl" if kind_of(head) is None else "is a result of eosctl of another kind"
    raise FileExistsError(errno.EEXIST, f"It exists, and {reason}", str(path))


def kind_of(head: bytes) -> Kind | None:
    """Return the kind of result that begins like this; None for what eosctl did not write.

    >>> kind_of(b"schema: eosctl.config-lint\\n") == kind_of(b'{"schema": "eosctl.config-lint"')
    False
    """
    found = _OWN.match(head[:HEAD_BYTES])
    return None if found is None or found.lastindex is None else (found.lastindex, found[found.lastindex])


def is_same_kind(head: bytes, content: bytes) -> bool:
    """Return whether a file's beginning is that of an earlier result of the same kind as a new one."""
    if head == content[:HEAD_BYTES]:
        return True
    if (kind := kind_of(head)) is not None:
        return kind == kind_of(content)
    first, line = head.partition(b"\n")[0], content.partition(b"\n")[0]
    return first == line and len(first) >= _LINE_BYTES and not first.startswith(_COMMON)
