r"""Text of other people at the border of each format: what a terminal, a table or a page would act on is written out.

Names and messages come from logs, files and the wire. A character is hidden when it moves the cursor, turns the
direction of text, or cannot be seen: controls (C0, DEL, C1), format characters such as U+202E and U+200B, line and
paragraph separators, default-ignorable letters and marks, and surrogates, which stand for bytes of file names that are
not UTF-8.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

# General categories Cc, Cf, Zl, and Zp of Unicode 15 and the property Default_Ignorable_Code_Point, with surrogates.
_INVISIBLE: Final = (
    "\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_HIDDEN: Final = re.compile(f"[\x00-\x1f{_INVISIBLE}]")
_UNFIT_FOR_CELL: Final = re.compile(f"[\x00-\x1f\\\\{_INVISIBLE}]")
# A row's own tabs and line feeds are counted, not searched.
_UNFIT_FOR_ROWS: Final = re.compile(f"[\x00-\x08\x0b-\x1f\\\\{_INVISIBLE}]")
_HIDDEN_IN_PAGE: Final = re.compile(f"[\x00-\x08\x0b-\x1f{_INVISIBLE}]")
_INVISIBLE_IN_JSON: Final = re.compile(f"[{_INVISIBLE}]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_MARKUP: Final = re.compile(r"[\\`*_{}\[\]<>|#~&]")
_BACKTICKS: Final = re.compile("`+")
_SARIF_LINK: Final = re.compile(r"(\\*)([\[\]])")
# Runners of GitHub Actions take a line that begins so, after any blanks, as a command: ``::error::`` is an annotation.
_COMMAND_LINE: Final = re.compile(r"^([^\S\n]*):(?=:)", re.MULTILINE)
# Those of GitHub and Azure Pipelines search every line for these, and TeamCity's service messages look alike:
# ``##[error]``, ``##vso[task.setvariable ...]``, ``##teamcity[...]``.
_COMMAND_IN_LINE: Final = re.compile(r"#(?=#\w{0,20}\[)", re.ASCII)
# What spreadsheets run as a formula; a number with a sign is none.
_FORMULA: Final = re.compile(r"(?:=|@|[+-](?!\d[\d.,]*(?:e[+-]?\d+)?\Z)).", re.DOTALL)
# The same in joined rows, which begin with a line feed.
_FORMULA_IN_ROWS: Final = re.compile(r"[\t\n](?:=|@|[+-](?!\d[\d.,]*(?:e[+-]?\d+)?[\t\n]))[^\t\n]")
_CELL_NAMES: Final = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


def is_visible(text: str) -> bool:
    """Return whether the text has no hidden character."""
    return (text.isascii() and text.isprintable()) or _HIDDEN.search(text) is None


def visible(text: str) -> str:
    r"""Write hidden characters out, as ``\x1b`` and ``\u202e``; for terminals.

    >>> visible("a\x1b[31m"), visible("pay\u202e"), visible("\udcff.log")
    ('a\\x1b[31m', 'pay\\u202e', '\\xff.log')
    """
    return text if text.isascii() and text.isprintable() else _HIDDEN.sub(_escape, text)


def tsv_row(cells: Sequence[str]) -> str:
    r"""Join cells to a line of tab-separated text.

    Backslash, tab, line feed and carriage return are ``\\``, ``\t``, ``\n`` and ``\r``; other hidden characters are
    written as :func:`visible` does, so that every escape can be undone; and so is the first sign of a formula.
    """
    return "\t".join([without_formula(_UNFIT_FOR_CELL.sub(_escape_in_cell, cell)) for cell in cells]) + "\n"


def without_formula(cell: str) -> str:
    r"""Write the first sign of a cell out if a spreadsheet would run it as a formula.

    >>> without_formula("=cmd()"), without_formula("-1"), without_formula("-")
    ('\\x3dcmd()', '-1', '-')
    """
    return f"\\x{ord(cell[0]):02x}{cell[1:]}" if is_formula(cell) else cell


def is_formula(cell: str) -> bool:
    """Return whether a spreadsheet would run a cell as a formula."""
    return _FORMULA.match(cell) is not None


def needs_no_escape(rows_text: str) -> bool:
    """Return whether rows that are already joined hold nothing to escape but, perhaps, tabs and line feeds in cells."""
    return _UNFIT_FOR_ROWS.search(rows_text) is None and _FORMULA_IN_ROWS.search(f"\n{rows_text}") is None


def markdown_text(text: str) -> str:
    """Keep names and values from becoming markup, a line or an HTML element; for text outside of code.

    >>> markdown_text("[x](javascript:a) <b>\\n# 1")
    '\\\\[x\\\\](javascript:a) \\\\<b\\\\> \\\\# 1'
    """
    return _MARKUP.sub(r"\\\g<0>", visible(text.replace("\n", " ")))


def markdown_code(text: str) -> str:
    """Write a name as a code span that no backtick in it ends.

    >>> markdown_code("a.log:7"), markdown_code("a`b")
    ('`a.log:7`', '``a`b``')
    """
    shown = visible(text.replace("\n", " "))
    if not shown.strip():
        return shown
    fence = "`"
    while fence in _BACKTICKS.findall(shown):
        fence += "`"
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def lines_text(text: str) -> str:
    """Write hidden characters of a finished page or of lines out; tabs and line feeds lay them out and stay.

    No line is or holds a command to the runner of a pipeline either.
    """
    return without_commands(_HIDDEN_IN_PAGE.sub(_escape, text))


def without_commands(text: str) -> str:
    r"""Keep lines of finished text from being or holding commands to the runner of a pipeline that shows the text.

    >>> without_commands("::error::x.log: 7 records\n  a::b ##[error]c")
    '\\x3a:error::x.log: 7 records\n  a::b \\x23#[error]c'
    """
    return without_commands_within(_COMMAND_LINE.sub(r"\1\\x3a", text) if "::" in text else text)


def without_commands_within(text: str, sign: str = r"\x23") -> str:
    """Write the first sign of a command that may stand anywhere in a line out; the runner finds none.

    Args:
        text: What may hold such commands.
        sign: How its format escapes ``#``.
    """
    # Most texts lack even one, which is found ten times as fast as two.
    return _COMMAND_IN_LINE.sub(lambda _: sign, text) if "#" in text and "##" in text else text


def may_hold_command(text: str) -> bool:
    """Return whether such a command could be in the text, or in a line that began with some part of it."""
    return "::" in text or "##" in text


def sarif_message(text: str) -> str:
    r"""Keep brackets from becoming a link: SARIF 2.1.0, section 3.11.6, reads ``[text](target)`` in messages.

    >>> sarif_message("[x](javascript:a)"), sarif_message("C:\\logs"), sarif_message("\\[")
    ('\\[x\\](javascript:a)', 'C:\\logs', '\\\\\\[')
    """
    lines = _SARIF_LINK.sub(lambda found: f"{found[1] * 2}\\{found[2]}", text).split("\n")
    return "\n".join(map(visible, lines))


def json_text(encoded: str) -> str:
    r"""Write invisible characters of encoded JSON as ``\u202e``: to a reader of JSON it is the same document.

    So it is with commands to the runner of a pipeline, which keep their first sign as ``\u0023``.
    """
    encoded = without_commands_within(encoded, r"\u0023")
    if encoded.isascii() and "\x7f" not in encoded:
        return encoded
    return _INVISIBLE_IN_JSON.sub(_escape_in_json, encoded)


def without_surrogates(value: object) -> object:
    """Return a tree of built-in values whose strings, keys included, can be encoded as UTF-8."""
    match value:
        case str():
            return utf8_text(value)
        case dict():
            return {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
        case list() | tuple():
            return [without_surrogates(item) for item in value]
        case _:
            return value


def utf8_text(text: str) -> str:
    r"""Write bytes of file names that are not UTF-8 as ``\xff``, so that the text can be encoded.

    >>> utf8_text("in/\udcff.log")
    'in/\\xff.log'
    """
    return text if text.isascii() else _SURROGATE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:  # os.fsdecode writes a byte that is not UTF-8 so
        code -= 0xDC00
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _escape_in_cell(found: re.Match[str]) -> str:
    return _CELL_NAMES.get(found[0]) or _escape(found)


def _escape_in_json(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    return f"\\u{0xD800 + ((code - 0x10000) >> 10):04x}\\u{0xDC00 + ((code - 0x10000) & 0x3FF):04x}"
