"""Mask secrets in external text: log lines, settings, and addresses in errors.

Masked are values of secret names, PEM blocks, HTTP tokens, JSON Web Tokens, and passwords in addresses. No other module
defines what a secret looks like in text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from eosctl.model.encoded_text import Reading, readings, unescaped
from eosctl.model.localized_names import LOWER
from eosctl.model.named_secrets import holds_name, is_secret_name, named_spans
from eosctl.model.secret import MASK
from eosctl.model.secret_arguments import argument_spans
from eosctl.model.secret_columns import Columns, column_spans, columns_of
from eosctl.model.secret_commands import command_spans
from eosctl.model.secret_markup import input_spans, shown_text
from eosctl.model.secret_objects import object_spans
from eosctl.model.secret_rows import row_spans
from eosctl.model.secret_sentences import sentence_spans
from eosctl.model.token_shapes import token_spans

_Spans = Iterator[tuple[int, int]]

PEM_BEGIN: Final = r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}(?:KEY|CERTIFICATE)[A-Z0-9 ]{0,40}-{4,5}"
PEM_END: Final = r"-{4,5} ?END [A-Z0-9 ]{0,40}(?:KEY|CERTIFICATE)[A-Z0-9 ]{0,40}-{4,5}"
_PEM_BEGIN: Final = re.compile(PEM_BEGIN)
_PEM_END: Final = re.compile(PEM_END)
# What may stand before an end without a beginning, read backwards; line ends may be written as \\n.
_BODY_BACKWARDS: Final = re.compile(
    r"(?:\s|[nr]\\)*(?:[nr](?!\\)|[A-Za-mo-qs-z0-9+/=])+(?:(?:\s|[nr]\\)+(?:[nr](?!\\)|[A-Za-mo-qs-z0-9+/=]){16,})*",
    re.ASCII,
)
_LONGEST_LINE: Final = 256
# A broker's JAAS names the password of each user of PLAIN: user_alice="secret"
_JAAS_USER: Final = re.compile(
    r"""(?:\b|(?<=\\n)|(?<=\\t))user_(?P<user>[\w.@-]{1,128})[ \t]{0,4}=[ \t]{0,4}"""
    r"""(?:\\{0,3}"(?P<quoted>(?:[^"\\]|\\.)*+)|(?P<plain>[^\s;"'\\]+))""",
    re.DOTALL,
)
_JAAS_MODULE: Final = "loginmodule"
_OTHER_FIELDS: Final = frozenset({"id", "name", "agent", "email", "group", "role", "type", "count"})
_USER: Final = re.compile(r"/{1,3}[^\s/:@?#\[\"'<>]{0,256}:", re.ASCII)
_USER_ALONE: Final = re.compile(r"/{1,3}([^\s/:@?#\[\"'<>]{1,256})@(?=[\w\[])", re.ASCII)
# Behind a host, not a password: http://host:8080/path?mail=a@b
_PORT: Final = re.compile(r"\d{1,5}[/?#]", re.ASCII)
# A quote or bracket ends an address only where something follows that cannot belong to it.
_IN_ADDRESS: Final = re.compile(
    r"""(?:[^\s"'<>,;]|["'](?![\s,;:)\]}>&.]|\Z)|[<>](?![/\s]|\Z)|[,;](?!\s|\Z|[\w+.-]{1,20}:/))*""", re.ASCII
)
_HOST: Final = re.compile(r"@[\w\[]", re.ASCII)
# user/password@//host/service, user/password@host:1521/service
_EASY_CONNECT: Final = re.compile(r"\b\w{1,64}/([^\s/@\"']{1,256})@(?://|[\w.-]{1,255}:\d{1,5}/)", re.ASCII)
_ORACLE: Final = re.compile(r"jdbc:oracle:\w{1,20}:[^\s/@\"']{1,128}/([^\s\"']{1,256})@", re.ASCII)
# The form of Go's drivers: user:password@tcp(host:3306)/database
_GO_ADDRESS: Final = re.compile(r"\b[\w.-]{1,64}:([^\s\"']{1,256})@(?:tcp6?|unix)\(", re.ASCII)
_BARE_ADDRESS: Final = re.compile(r"@(?:\[[0-9A-Fa-f:.]{2,45}\]|[\w.-]{1,255}):\d{1,5}\b", re.ASCII)
_BARE_USER: Final = re.compile(r"(?<![^=(<\[{,])[A-Za-z_][\w.+-]{0,63}:(?!/)", re.ASCII)
_LONGEST_BARE: Final = 256
_BEFORE_BARE: Final = re.compile(r"[\s\"']", re.ASCII)
_TO_LOWER: Final = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)} | LOWER


def redact_text(text: str) -> str:
    """Return a text with its secrets masked.

    >>> redact_text('jdbc:postgresql://h/db?user=a&password=changeit failed')
    'jdbc:postgresql://h/db?user=a&password=[hidden] failed'
    """
    spans = secret_spans(text)
    return masked(text, spans) if spans else text


def redact_line(line: bytes) -> bytes:
    """Return a line of any encoding that extends ASCII with its secrets masked.

    >>> redact_line(b'ssl.keystore.password = changeit')
    b'ssl.keystore.password = [hidden]'
    """
    text = line.decode("utf-8", "surrogateescape")
    spans = secret_spans(text)
    return masked(text, spans).encode("utf-8", "surrogateescape") if spans else line


class ColumnMask:
    """Masks secrets in the columns of a table whose lines are given one after the other.

    >>> mask = ColumnMask()
    >>> mask(b"user,password"), mask(b"me,changeit")
    (b'user,password', b'me,[hidden]')
    """

    def __init__(self) -> None:
        self._columns: Columns | None = None

    def __call__(self, line: bytes) -> bytes:
        """Return the next line, or several lines, of the text with the secrets of its columns masked."""
        pieces = []
        for one in line.decode("utf-8", "surrogateescape").splitlines(keepends=True):
            spans = None if self._columns is None else self._columns.spans(one)
            if spans is None:
                self._columns = columns_of(one)
            pieces.append(masked(one, spans) if spans else one)
        return "".join(pieces).encode("utf-8", "surrogateescape")


def redact_address(address: str) -> str:
    """Return an address with all that stands before its host masked, but for the user's name.

    >>> redact_address("alice:changeit@broker:9092")
    'alice:[hidden]@broker:9092'
    """
    credentials, at, host = address.rpartition("@")
    if not at:
        return redact_text(address)
    scheme, slashes, credentials = credentials.rpartition("://")
    user, colon, _ = credentials.partition(":")
    return f"{scheme}{slashes}{user}:{MASK}@{host}" if colon else f"{scheme}{slashes}{MASK}@{host}"


def masked(text: str, spans: tuple[tuple[int, int], ...], start: int = 0, end: int | None = None) -> str:
    """Return a part of a text with spans masked.

    Args:
        text: The text.
        spans: As `secret_spans` returns them for the whole text.
        start: Where the part starts.
        end: Where it ends; None for the end of the text.
    """
    end = len(text) if end is None else end
    pieces, position = [], start
    for first, last in spans:
        if last > position and first < end:
            pieces += [text[position : max(first, position)], MASK]
            position = min(last, end)
    return "".join([*pieces, text[position:end]])


def secret_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Return start and end of each secret in a text, in order and without overlaps.

    No rule distinguishes one digit from another: log mining remembers the spans for all texts that differ in their
    digits only.
    """
    lower = _lower(text)
    may_hold_name = holds_name(lower)
    spans = _spans(text, lower, may_hold_name=may_hold_name)
    if may_hold_name or not text.isascii() or "\\u" in text:
        if (shown := _markup(text)) is not None:
            spans += _spans_of(shown)
        for reading in readings(text):
            spans += _spans_of(reading)
            if (shown := _markup(reading.text)) is not None:
                spans += _spans_of(reading.then(shown))
    return merged(sorted(spans))


def spans_over_lines(text: str) -> tuple[tuple[int, int], ...]:
    """Return start and end of each secret that takes several lines, has its name in another one, or ends with its line.

    The lines are those that a program wrote. PEM blocks are left to `pem_spans`, and what reads in the same way with a
    prefix before its line to `secret_spans`.
    """
    spans = _over_lines(text)
    if (shown := _markup(text)) is not None:
        spans += _spans_of(shown)
    if "\\u" in text:
        escaped = unescaped(text)
        spans += [escaped.original(*span) for span in _over_lines(escaped.text)]
    return merged(sorted(spans))


def _over_lines(text: str) -> list[tuple[int, int]]:
    lower = _lower(text)
    named = (span for span in named_spans(text, lower) if _is_over_lines(text, lower, *span))
    return [*named, *object_spans(text), *row_spans(text, lower)]


def _is_over_lines(text: str, lower: str, start: int, end: int) -> bool:
    line = max(text.rfind("\n", 0, start) + 1, start - _LONGEST_LINE)
    is_setting = "=" in text[start - 2 : start] and text[end : end + 1] in ("", "\n")
    return is_setting or "\n" in text[start:end] or not holds_name(lower[line:start])


def _spans_of(reading: Reading) -> list[tuple[int, int]]:
    return [reading.original(*span) for span in _spans(reading.text, _lower(reading.text), may_hold_name=True)]


def _markup(text: str) -> Reading | None:
    return shown_text(text) if "</" in text or "<br" in text or "<wbr" in text else None


def _lower(text: str) -> str:
    return text.lower() if text.isascii() else text.translate(_TO_LOWER)


def _spans(text: str, lower: str, *, may_hold_name: bool) -> list[tuple[int, int]]:
    named = named_spans(text, lower) if may_hold_name else ()
    found = (pem_spans(text), named, token_spans(text, lower), _address_spans(text), _jaas_user_spans(text, lower))
    apart = (object_spans(text), row_spans(text, lower))
    named_apart = (input_spans(text), column_spans(text)) if may_hold_name else ()
    unnamed = (argument_spans(text, lower), sentence_spans(text, lower), command_spans(text))
    return list(chain.from_iterable((*found, *apart, *named_apart, *unnamed)))


def merged(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return spans in order without overlaps, given in the order of their starts."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        elif start < end:
            joined.append((start, end))
    return tuple(joined)


def pem_spans(text: str) -> _Spans:
    """Yield PEM blocks; one that is cut reaches to the end of the text, or back to the start of its body."""
    position = 0
    while "BEGIN " in text and (begin := _PEM_BEGIN.search(text, position)) is not None:
        yield from _pem_tails(text, position, begin.start())
        end = _PEM_END.search(text, begin.end())
        position = len(text) if end is None else end.end()
        yield begin.start(), position
    yield from _pem_tails(text, position, len(text))


def _pem_tails(text: str, position: int, stop: int) -> _Spans:
    while "END " in text and (end := _PEM_END.search(text, position, stop)) is not None:
        body = _BODY_BACKWARDS.match(text[position : end.start()][::-1])
        yield end.start() - (0 if body is None else body.end()), end.end()
        position = end.end()


def _jaas_user_spans(text: str, lower: str) -> _Spans:
    """Yield passwords of PLAIN's users: those in quotes, and all where a login module is named."""
    if "user_" not in text:
        return
    names_module = _JAAS_MODULE in lower
    for found in _JAAS_USER.finditer(text):
        if names_module or (found["quoted"] is not None and found["user"] not in _OTHER_FIELDS):
            yield found.span("plain" if found["quoted"] is None else "quoted")


def _address_spans(text: str) -> _Spans:
    if "@" not in text:
        return
    position = token_end = at = 0
    while (sign := text.find(":/", position)) >= 0:
        position = sign + 2
        if (alone := _USER_ALONE.match(text, sign + 1)) and text[max(sign - 1, 0)].isalnum():
            yield alone.span(1)
        user = _USER.match(text, sign + 1)
        if user is None or not text[max(sign - 1, 0)].isalnum():
            continue
        if sign >= token_end and (token := _IN_ADDRESS.match(text, user.end())):
            token_end = token.end()
            at = _last_host(text, user.end(), token_end)
        if at > user.end() and not _PORT.match(text, user.end()):
            yield user.end(), at
            position = token_end
    yield from _database_spans(text)
    for host in _BARE_ADDRESS.finditer(text):
        at = host.start()
        before = _BEFORE_BARE.split(text[max(at - _LONGEST_BARE, 0) : at])[-1]
        user = _BARE_USER.search(before)
        if user is not None and user.end() < len(before):
            yield at - len(before) + user.end(), at


def _database_spans(text: str) -> _Spans:
    for found in _ORACLE.finditer(text) if "jdbc:oracle" in text else ():
        yield found.span(1)
    for found in _EASY_CONNECT.finditer(text):
        yield found.span(1)
    for found in _GO_ADDRESS.finditer(text) if "@tcp" in text or "@unix(" in text else ():
        yield found.span(1)


def _last_host(text: str, start: int, end: int) -> int:
    """Return where the last `@` before a host stands, or -1."""
    at = text.rfind("@", start, end)
    while at >= 0 and not _HOST.match(text, at):
        at = text.rfind("@", start, at)
    return at


SETTING_MASK: Final = "********"


def setting_text(name: str, text: str | None) -> str:
    """Return the text of a setting's value for people; secrets are masked."""
    if text is None:
        return "(none)"
    return SETTING_MASK if is_secret_name(name) else redact_text(text)
