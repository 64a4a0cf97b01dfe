"""Find secrets whose name stands apart from them: in sentences of Kafka, statements of SQL, lists, and forms.

Each character is read a bounded number of times: the time is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eosctl.model.named_secrets import is_secret_name
from eosctl.model.random_words import is_random

_Span = tuple[int, int]

# ConfigException: Invalid value x for configuration ssl.key.password
_FOR_CONFIGURATION: Final = re.compile(r" for configuration (?P<name>[\w.-]{1,256})", re.ASCII)
_INVALID: Final = "nvalid value "
_LONGEST_VALUE: Final = 4_096
# The last message of a SCRAM client: c=biws,r=nonce,p=proof
_SCRAM_PROOF: Final = re.compile(r"\bc=[\w+/=]{1,64},r=[^,\s\"]{1,256},p=(?P<value>[\w+/=]+)", re.ASCII)
# Names that stand before other values, too: only what looks random is a secret.
_OFTEN_SECRET: Final = re.compile(
    r"(?P<name>auth|t?otp|sess(?:ion)?[._-]?id|\bsession|\bsid|cookie|encrypt|userinfo|proxy[._-]?user)"
    r"\\*[\"']?[ \t]{0,4}[=:][ \t]{0,4}\\*[\"']?",
    re.ASCII,
)
# No UUID, and no number, which ids of sessions in Kafka and ZooKeeper are
_RANDOM: Final = re.compile(
    r"(?!0x[\da-f]{1,16}(?!\w)|[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-)[\w+/=.~%-]{12,2048}", re.ASCII | re.IGNORECASE
)
# elastic:changeit; no principal
_USER_AND_PASSWORD: Final = re.compile(
    r"(?!(?:user|role|group|https?|kerberos):)[A-Za-z_][\w.@+-]{0,63}:(?![/:])(?P<password>[^\s\"',;&]{3,1024})",
    re.ASCII | re.IGNORECASE,
)
_OF_USERS: Final = ("auth", "userinfo", "proxy_user", "proxy.user", "proxy-user", "proxyuser")
_HINTS: Final = (
    "auth=", "auth:", "auth =", 'auth"', "auth\\", "otp", "sessid", "session_id", "sessionid", "session-id", "session:",
    "session=", "sid=", "sid:", "cookie", "encrypt:", "encrypt=", "userinfo", "proxy_user", "proxy.user", "proxyuser",
)  # fmt: skip
_INSERT: Final = re.compile(
    r"\binto\s{1,8}[^\s(]{1,200}\s{0,8}\((?P<columns>[^()]{1,2048})\)\s{0,8}values\s{0,8}(?=\()", re.ASCII
)
_TUPLE: Final = re.compile(
    r"\s{0,8},?\s{0,8}\((?P<cells>(?:[^()'\"]|'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\"){1,2048})\)"
)
# ["user","password"] and the lists behind it
_LIST: Final = re.compile(r"\[(?P<cells>(?:[^\[\]\"]|\"(?:[^\"\\]|\\.){0,4096}\"){1,512})\]")
_COLUMN: Final = re.compile(r"\s*\"[\w .-]{1,64}\"\s*")
_CELL: Final = re.compile(r"(?:[^,'\"]|'(?:[^'\\]|\\.)*+'?|\"(?:[^\"\\]|\\.)*+\"?)+")
_MOST_LIST_CHARS: Final = 1 << 16
# A part of multipart/form-data: its headers, an empty line, and the value up to the next boundary
_PART: Final = re.compile(
    r"form-data;[^\r\n]{0,200}\bname=\"(?P<name>[^\"\r\n]{1,128})\"[^\r\n]{0,200}\r?\n(?:[\w-]{1,64}:[^\r\n]{0,200}\r?\n){0,4}"
    r"\r?\n"
)


def row_spans(text: str, lower: str) -> Iterator[_Span]:
    """Yield start and end of each secret whose name does not stand right before it.

    Args:
        text: What to search.
        lower: The same in lower case, of the same length.
    """
    if _INVALID in text:
        yield from _invalid_values(text)
    if ",p=" in text:
        yield from (found.span("value") for found in _SCRAM_PROOF.finditer(text))
    for hint in _HINTS:
        if hint in lower:
            yield from _random_values(text, lower)
            break
    if "insert into" in lower or "replace into" in lower:
        for found in _INSERT.finditer(lower):
            yield from _of_tuples(text, found["columns"], found.end())
    if '["' in text or '[ "' in text or "[\n" in text:
        yield from _of_lists(text, lower)
    if "form-data" in lower:
        yield from _of_form(text)


def _invalid_values(text: str) -> Iterator[_Span]:
    for found in _FOR_CONFIGURATION.finditer(text):
        start = text.rfind(_INVALID, max(0, found.start() - _LONGEST_VALUE), found.start())
        if start >= 0 and is_secret_name(found["name"]):
            yield start + len(_INVALID), found.start()


def _random_values(text: str, lower: str) -> Iterator[_Span]:
    for found in _OFTEN_SECRET.finditer(lower):
        start = found.start()
        is_word = not text[start - 1 : start].isalpha() or (text[start].isupper() and text[start - 1].islower())
        if not (is_word or found["name"].startswith("sess")):
            continue
        pair = _USER_AND_PASSWORD.match(text, found.end()) if found["name"] in _OF_USERS else None
        if pair is not None:
            yield pair.span("password")
        elif (value := _RANDOM.match(text, found.end())) is not None and is_random(value[0]):
            yield value.span()


def _of_tuples(text: str, columns: str, position: int) -> Iterator[_Span]:
    """Yield the secret cells of the tuples behind the names of their columns."""
    secret, count = _secret_columns([cell[0] for cell in _CELL.finditer(columns)])
    while secret and (found := _TUPLE.match(text, position)) is not None:
        position = found.end()
        yield from _cells(text, found, secret, count)


def _of_lists(text: str, lower: str) -> Iterator[_Span]:
    """Yield the secret cells of the lists behind a list of names, which have as many."""
    secret: list[int] = []
    count = 0
    for found in _LIST.finditer(text):
        cells = [cell[0] for cell in _CELL.finditer(lower, *found.span("cells"))]
        if secret and len(cells) == count:
            yield from _cells(text, found, secret, count)
        elif len(cells) > 1 and all(map(_COLUMN.fullmatch, cells)):
            secret, count = _secret_columns(cells)


def _secret_columns(cells: list[str]) -> tuple[list[int], int]:
    names = [cell.strip(" \t\n\r\"'`[]").replace(" ", "_") for cell in cells]
    return [number for number, name in enumerate(names) if name and is_secret_name(name)], len(names)


def _cells(text: str, row: re.Match[str], secret: list[int], count: int) -> Iterator[_Span]:
    cells = list(_CELL.finditer(text, *row.span("cells")))
    for number in secret if len(cells) == count else ():
        shown = cells[number][0]
        start = cells[number].start() + len(shown) - len(shown.lstrip())
        yield start, start + len(shown.strip())


def _of_form(text: str) -> Iterator[_Span]:
    for found in _PART.finditer(text):
        if is_secret_name(found["name"]):
            end = text.find("\n--", found.end(), found.end() + _MOST_LIST_CHARS)
            yield found.end(), len(text) if end < 0 else end
