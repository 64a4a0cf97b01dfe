"""Correct lines of logs that were read from a picture.

Software that reads text from screenshots takes digits for letters of the same shape: ``2O26-O3-l4``. A line is
corrected in its timestamp, its level, and Kafka's names for ids. No program writes such dates, so the lines of other
logs are left as they are.
"""

from __future__ import annotations

import re
from typing import Final

from eosctl.logs.carriers.carriers import Inner

MISREAD: Final = "misread"
"""The wrapper of lines that were read from a picture."""

_DIGIT: Final = rb"[0-9OoQDlI|iSsBZ]"
_ROUND: Final = rb"[0-9OolI|]"
"""Without letters of hexadecimal numbers, which an address of a network card has."""
_CLOCK: Final = rb"%(d)s{2}[:;]%(d)s{2}[:;]%(d)s{2}(?:[.,]%(d)s{3})?(?![:;\w])"
_STAMP: Final = re.compile(
    rb"[^\w\n]{0,2}(%(d)s{4}[-/.]%(d)s{2}[-/.]%(d)s{2}[ T]{1,2}%(long)s|%(clock)s)"
    % {b"d": _DIGIT, b"long": _CLOCK % {b"d": _DIGIT}, b"clock": _CLOCK % {b"d": _ROUND}}
)
_DIGITS: Final = bytes.maketrans(b"OoQDlI|iSsBZ;", b"000011115582:")
_LOOKALIKE: Final = re.compile(rb"[OoQDlI|iSsBZ;]")
_LEVELS: Final = {b"lNFO": b"INFO", b"1NFO": b"INFO", b"INF0": b"INFO", b"lNF0": b"INFO", b"ERR0R": b"ERROR"}
_LEVEL: Final = re.compile(rb"\b(?:%s)\b" % b"|".join(_LEVELS))
_ID: Final = re.compile(rb"\b((?:client|transactional|producer|group|member|node|topic|cluster|application))[l1|]d\b")
_INIT: Final = re.compile(rb"\b[l1|](?=n(?:valid|it)[A-Z])")
"""The first letter of ``InvalidTxnStateException`` and ``InitProducerId``."""


def unwrap_misread(line: bytes) -> Inner | None:
    """Correct a line that was read from a picture; None if it was not."""
    found = _STAMP.match(line)
    # A clock alone must have a digit, or it could be a word.
    if found is None or not _LOOKALIKE.search(found[1]) or not any(sign in found[1] for sign in b"0123456789"):
        return None
    behind = _LEVEL.sub(lambda level: _LEVELS[level[0]], line[found.end() :])
    behind = _INIT.sub(b"I", _ID.sub(rb"\1Id", behind))
    return Inner("", line[: found.start(1)] + found[1].translate(_DIGITS) + behind)
