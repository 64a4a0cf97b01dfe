"""Taking out of logs what no helper needs to see: passwords, tokens, keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from eosctl.analysis.redaction import MASK, redact_line

_LINE_BYTES: Final = 1 << 20

_KEY_BEGINS: Final = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----")
_KEY_ENDS: Final = re.compile(rb"-----END [A-Z ]*PRIVATE KEY-----")


def redacted_lines(path: Path, last_bytes: int) -> Iterator[bytes]:
    """Read the end of a text file line by line, secrets masked; private keys vanish altogether.

    Args:
        path: The file.
        last_bytes: How much of its end to read; the first, possibly cut line is left out.

    Raises:
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        start = max(0, path.stat().st_size - last_bytes)
        if start:
            file.seek(start - 1)
            file.readline()
        inside_key = False
        while line := file.readline(_LINE_BYTES):
            if inside_key or _KEY_BEGINS.search(line):
                inside_key = _KEY_ENDS.search(line) is None
                yield MASK.encode() + b"\n"
            else:
                yield redact_line(line)
