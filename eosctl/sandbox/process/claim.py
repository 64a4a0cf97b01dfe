"""The claim of a process on the name of its sandbox.

The process holds a lock while it serves, so that no other one takes over its state file and sockets, and that a command
which stopped an earlier sandbox does not remove those of a new one. The operating system ends the claim with the
process. The file of the lock stays: another process may be waiting for it.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from eosctl.errors import UsageError
from eosctl.sandbox.process import paths


@contextmanager
def claimed_name(name: str) -> Iterator[None]:
    """Hold the name of a sandbox.

    Raises:
        UsageError: A process that serves a sandbox of this name holds it.
        OSError: The folder of sandboxes cannot be used.
    """
    root = paths.sandbox_dir(name).parent
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    lock = os.open(root / f".{name}.serving", flags, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(
                f"A sandbox named {name!r} is running.",
                "Its state file and its sockets have this name.",
                f"Use it, stop it (eosctl sandbox down --name {name}), or choose another --name.",
            ) from error
        yield
    finally:
        os.close(lock)
