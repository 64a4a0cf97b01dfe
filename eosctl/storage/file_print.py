"""What shows that a file is the same as at an earlier time, without reading all of it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.storage.regular_file import open_regular

#: Bytes at each end of a file that are compared.
END_BYTES: Final = 4096
_DIGEST_BYTES: Final = 16


class FilePrint(NamedTuple):
    """A file's identity and the digest of its ends.

    Attributes:
        size: Its size, in bytes.
        modified_ns: The time of its last modification, in ns since the epoch.
        inode: Its number on the file system: a file that was replaced has another one.
        ends: The digest of its first and last `END_BYTES`; empty for what is not a regular file.
    """

    size: int
    modified_ns: int
    inode: int
    ends: bytes


def file_print(path: Path) -> FilePrint:
    """Return the print of a file.

    Raises:
        FileNotFoundError: The file is gone.
    """
    try:
        descriptor = open_regular(path)
    except FileNotFoundError:
        raise
    except OSError:  # The check of the file itself reports it.
        seen = path.lstat()
        return FilePrint(seen.st_size, seen.st_mtime_ns, seen.st_ino, b"")
    try:
        seen = os.fstat(descriptor)
        ends = hashlib.blake2b(os.pread(descriptor, END_BYTES, 0), digest_size=_DIGEST_BYTES)
        ends.update(os.pread(descriptor, END_BYTES, max(seen.st_size - END_BYTES, 0)))
        return FilePrint(seen.st_size, seen.st_mtime_ns, seen.st_ino, ends.digest())
    finally:
        os.close(descriptor)
