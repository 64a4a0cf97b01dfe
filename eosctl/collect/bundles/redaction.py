"""Mask passwords, tokens, and keys in the logs of a bundle."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO, Final

from eosctl.collect.bundles.bodies import body_of, masked_bodies
from eosctl.model.redaction import PEM_BEGIN, PEM_END, ColumnMask, masked, pem_spans, redact_line, secret_spans
from eosctl.model.secret import MASK

_WINDOW: Final = 1 << 20
"""Characters of a long line that are masked in one step, which takes about 90 bytes of memory for each."""
_AROUND: Final = 1 << 16
"""Characters before and behind a step that are read with it: a secret and its name may lie on both sides."""

_PEM_BEGIN: Final = re.compile(PEM_BEGIN.encode())
_PEM_END: Final = re.compile(PEM_END.encode())
# Other threads may log within a PEM block, so only base64 and PEM headers belong to it: a line's last word, a long
# word, or the text of a JSON record with one line.
_PEM_LINE: Final = re.compile(
    rb"\A\s*\Z|(?:\A|\s)[A-Za-z0-9+/=\\]+\s*\Z|[A-Za-z0-9+/=]{16}|\"[A-Za-z0-9+/=]+(?:\\r)?\\n\"|Proc-Type:|DEK-Info:"
)
# Values that continue in the next line: a YAML block, a line that ends with a backslash, the body of a PEM block.
_BLOCK: Final = re.compile(rb"[:=][ \t]{0,40}[|>][+\d-]{0,2}[ \t]{0,40}\r?\n\Z")
_CONTINUED: Final = re.compile(rb"\\\r?\n\Z")
_BODY: Final = re.compile(rb"[A-Za-z0-9+/=]{16}\r?\n\Z")
_BODY_LINE: Final = re.compile(rb"\A\s{0,40}[A-Za-z0-9+/=]{1,1024}\s{0,40}\Z")
# A line that ends behind the name of a secret, or gives the value of a name that may follow: its value, or its name, is
# in one of the next lines.
_OPEN_NAME: Final = re.compile(
    rb"(?:pass|pwd|pw|secret|token|credential|key|jaas|hmac)[\w.-]{0,64}[\"'\]]{0,2}[ \t]{0,40}"
    rb"(?:[:=>,][ \t]{0,40}[\[{(]?[ \t]{0,40}|</\w{1,40}>[ \t]{0,40})?\r?\n\Z"
    rb"|\A[\s-]{0,80}[\"']?value[\"']?[ \t]{0,40}[:=]"
    rb"|<!\[CDATA\[[ \t]{0,40}\r?\n\Z",
    re.IGNORECASE,
)
_PEM_LINES: Final = 1_000
_PEM_BYTES: Final = 1 << 16


def redacted_lines(data: bytes, *, is_cut: bool = False) -> Iterator[bytes]:
    """Yield a text line by line with masked secrets, also those that span lines.

    Args:
        data: The text.
        is_cut: Whether it begins within a line, which is skipped, or within a PEM block.
    """
    mask_columns = ColumnMask()
    with BytesIO(b"".join(masked_bodies(b"".join(_without_pem(data, is_cut=is_cut))))) as file:
        while line := file.readline():
            line += _further_lines(file, line)
            redacted = _redacted(mask_columns(line))
            if line.endswith(b"\n") and not redacted.endswith(b"\n"):
                redacted += b"\n"
            yield redacted + (MASK.encode() + b"\n") * (line.count(b"\n") - redacted.count(b"\n"))


def _redacted(line: bytes) -> bytes:
    if len(line) <= _WINDOW:
        return redact_line(line)
    text = line.decode("utf-8", "surrogateescape")
    pieces = []
    for start in range(0, len(text), _WINDOW):
        begin, stop = max(start - _AROUND, 0), min(start + _WINDOW, len(text))
        found = ((one + begin, end + begin) for one, end in secret_spans(text[begin : stop + _AROUND]))
        here = tuple((max(one, start), min(end, stop)) for one, end in found if one < stop and end > start)
        pieces.append(masked(text, here, start, stop))
    return "".join(pieces).encode("utf-8", "surrogateescape")


def _without_pem(data: bytes, *, is_cut: bool) -> Iterator[bytes]:
    """Yield the lines of a text with masked PEM blocks, between whose lines other threads may log."""
    with BytesIO(data) as file:
        if is_cut:
            file.readline()
        lines_left = _PEM_LINES if is_cut and _starts_within_pem(file) else 0
        while line := file.readline():
            if lines_left:
                lines_left -= 1
                if end := _PEM_END.search(line):
                    line, lines_left = MASK.encode() + line[end.end() :], 0
                elif _PEM_LINE.search(line) or _BODY_LINE.search(
                    body_of(line.decode("ascii", "replace")).text.encode()
                ):
                    yield MASK.encode() + b"\n"
                    continue
            if begins := list(_PEM_BEGIN.finditer(line)):
                lines_left = 0 if _PEM_END.search(line, begins[-1].end()) else _PEM_LINES
                text = line.decode("utf-8", "surrogateescape")
                shown = masked(text, tuple(pem_spans(text))).encode("utf-8", "surrogateescape")
                line = shown if shown.endswith(b"\n") else shown + line[len(line.rstrip(b"\r\n")) :]
            yield line


def _further_lines(file: BinaryIO, line: bytes) -> bytes:
    """Read the continuation lines of a value, if any."""
    if not any(form.search(line) for form in (_CONTINUED, _BLOCK, _BODY, _OPEN_NAME)):
        return b""
    is_block, is_body = _BLOCK.search(line) is not None, _BODY.search(line) is not None
    lines = [line]
    position = file.tell()
    while file.tell() - position < _PEM_BYTES:
        before = file.tell()
        following = file.readline()
        continues = any(
            (
                _CONTINUED.search(lines[-1]),
                _OPEN_NAME.search(lines[-1]),
                is_block and following[:1] in (b" ", b"\t"),
                is_body and (_BODY_LINE.search(following) or _PEM_END.search(following)),
            )
        )
        if not following or not continues:
            file.seek(before)
            break
        lines.append(following)
    return b"".join(lines[1:])


def _starts_within_pem(file: BinaryIO) -> bool:
    position = file.tell()
    ahead = file.read(_PEM_BYTES)
    file.seek(position)
    end, begin = _PEM_END.search(ahead), _PEM_BEGIN.search(ahead)
    return end is not None and (begin is None or end.start() < begin.start())
