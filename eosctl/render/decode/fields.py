"""Write single values of a log: bytes, times, codecs, and kinds of batches."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import msgspec

from eosctl.render.decode.formats import BytesForm
from eosctl.render.escaping import is_visible, without_formula
from eosctl.text import time_text
from eosctl.wire.records.compression import Compression

CODECS: Final = (*(codec.name.lower() for codec in Compression), "codec-5", "codec-6", "codec-7")
#: Times that are shown as dates; others are shown as numbers.
_PRINTABLE: Final = bytes(range(32, 127))
LAST_TIME_MS: Final = 253_402_300_799_999


def when(timestamp: int) -> str:
    """Write a timestamp (milliseconds since the epoch) as a date; a value out of range stays a number."""
    if not 0 <= timestamp <= LAST_TIME_MS:
        return str(timestamp)
    return f"{second_text(timestamp // 1_000)}.{timestamp % 1_000:03d}Z"


@lru_cache(maxsize=64)
def second_text(second: int) -> str:
    """Write a second since the epoch without zone; batches of a log share few seconds."""
    return time_text(second * 1_000)[:19]


def bytes_writer(form: BytesForm) -> Callable[[bytes | None], Any]:
    """Return the function that turns a key or value into a JSON value; null stays null."""
    match form:
        case BytesForm.UTF8:
            return lambda data: None if data is None else data.decode("utf-8", "replace")
        case BytesForm.HEX:
            return lambda data: None if data is None else data.hex()
        case BytesForm.BASE64:
            return lambda data: None if data is None else b64encode(data).decode()
        case BytesForm.JSON:
            return lambda data: None if data is None else _parse_json(data)
        case BytesForm.NONE:
            return lambda data: None


def _parse_json(data: bytes) -> Any:
    """Return the parsed value, or the text if it is not JSON."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return data.decode("utf-8", "replace")


def cell_writer(form: BytesForm) -> Callable[[bytes | None], str]:
    """Return the function that turns a key or value into one cell of a line."""
    if form is BytesForm.NONE:
        return lambda data: "-"
    if form is BytesForm.HEX:
        return lambda data: "-" if data is None else data.hex()
    if form is not BytesForm.UTF8:
        write = bytes_writer(form)
        return lambda data: cell(write(data))

    def utf8(data: bytes | None) -> str:
        if data is None:
            return "-"
        if not data.translate(None, _PRINTABLE):  # much faster than a check of the text
            return data.decode("ascii")
        text = data.decode("utf-8", "replace")
        return escape_text(text)

    return utf8


def cell(value: Any) -> str:
    """Write a value into one cell of a line; control characters are escaped, null is a dash."""
    if value is None:
        return "-"
    if isinstance(value, int):
        return str(value)
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return escape_text(text)


def tsv_cell(value: Any) -> str:
    """Write a value into one cell of a tab-separated line, which no spreadsheet runs as a formula."""
    return without_formula(cell(value))


def escape_text(text: str) -> str:
    """Return the text, with Python's escapes if it contains invisible characters."""
    return text if text.isprintable() and is_visible(text) else text.encode("unicode_escape").decode()
