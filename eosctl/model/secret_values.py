"""Find where the value of a secret ends: at a quote, a bracket, the end of a line, or that of a block of lines.

Where the end is ambiguous, more is masked rather than less. Each character is read a bounded number of times.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from eosctl.model.secret import MASK

# [Producer clientId=a] password = two words; export PASSWORD=two words
_LINE_START: Final = re.compile(
    r"(?:\[[^\]\n]{0,150}\][ \t]){0,2}(?:[\s#!>|*-]|export\s|set\s|env\s){0,20}(?P<key>[\w.\[\]-]{0,80})\Z", re.ASCII
)
_LONGEST_START: Final = 250
_BEFORE: Final = 160
_CLOSING: Final = {"(": ")", "[": "]", "<": ">", "{": "}"}

# password: !!str x, password: &anchor x
_YAML_TAG: Final = re.compile(r"(?:[!&][^\s\"',;]{0,80}[ \t]{1,40}){1,2}", re.ASCII)
_YAML_BLOCK: Final = re.compile(r"[|>][+\d-]{0,2}[ \t]{0,40}\r?\n(?P<indent>[ \t]{1,80})[^\n]*", re.ASCII)
# password = two words, user = x
_TO_NEXT: Final = re.compile(r"(?:[^\r\n,;]|[,;](?![ \t]{0,4}[\w.-]{1,64}[ \t]{0,4}[=:]))*", re.ASCII)
_LOGGER: Final = re.compile(r"[ \t]\([\w.$]{1,200}\)\Z", re.ASCII)
# Server=db;Password=two words;Encrypt=true
_IN_CONNECTION_STRING: Final = re.compile(r";[ ]?[\w ]{0,40}\Z", re.ASCII)
# {user=me, password=two words, x=y}
_IN_MAP: Final = re.compile(r"\{[^{}\n]{0,100}\Z")
_TO_NEXT_ENTRY: Final = re.compile(r"(?:[^\r\n,{}]|,(?![ ][\w.-]{1,64}=)){0,256}")
_TO_SEMICOLON: Final = re.compile(r"[^;\r\n\"']*")
_NULL: Final = re.compile(r"""null(?![^\s,;&)\]}"'])""", re.ASCII)
_TO_LINE_END: Final = re.compile(r"(?:[^\r\n\\]|\\(?:\r\n|[\s\S]))*")
OPENER: Final = re.compile(r"[bBuUrR]{0,2}(?P<escape>\\*)(?P<quote>[\"'])")
_UNTIL_TAG: Final = re.compile(r"(?:\s{1,80}(?=[^\s<]{1,1024}\s{0,80}(?:</|\Z)))?[^<\r\n]*")
_CDATA: Final = re.compile(r"\s{0,80}<!\[CDATA\[")
_LONGEST_IN_BRACKETS: Final = 256
# password = <<EOT, PASSWORD=$(cat <<-'EOF'
_HEREDOC: Final = re.compile(
    r"(?:\$\(cat[ ]{1,4})?<<[-~]?[ \t]{0,4}[\\\"']{0,2}(?P<word>\w{1,64})[\"']?[^\n]{0,80}\n", re.ASCII
)
_TRIPLE: Final = re.compile(r"[bBuUrR]{0,2}(?P<quotes>\"{3}|'{3})")
# password: 'old' -> 'new', password = "a" "b" (HOCON), password changed from a to b
_FURTHER: Final = re.compile(
    r"(?:\\*[\"'])?[ \t]{0,4}(?:->|=>|→|⇒)[ \t]{1,4}(?=[^\s>|])|\\*[\"'][ ]{1,4}(?=\\*[\"'])"
    r"|(?P<to>[\"']?[ ]to[ ])(?=\S)"
)
_LONGEST_LINES: Final = 1 << 16
_LONGEST_QUOTED_LINES: Final = 1024
_CONTINUES: Final = re.compile(r"[ \t]{1,80}+(?!at |\.{3})", re.ASCII)
# [hidden]xyz: the rest of a value that was masked in part
_STUCK: Final = re.compile(r"[^\s,;&|\"'`\\()\[\]{}<>.:@/]")
# password:\n  - x, password:\n    x; not the frames of a stack trace.
_YAML_BELOW: Final = re.compile(r"\r?\n(?P<value>[ ]{1,80}(?!at |\.{3})(?:- )?[^\r\n]*)", re.ASCII)
# password:\nx: one word that is not a key
_BELOW: Final = re.compile(
    r"\r?\n[ \t]{0,80}(?P<value>(?![\"']?[\w.-]{1,64}[\"']?[=:]|[<{}\[\]/#-]|\.{3})(?=\S{0,256}\w)\S{1,1024})"
    r"[ \t]{0,40}(?=[\r\n]|\Z)",
    re.ASCII,
)
_LINE_KEY: Final = re.compile(r"[\w.-]{1,128}[\"']?\]?(?::|=>)[ \t]{0,40}\Z", re.ASCII)
# A quote, comma, or bracket ends a bare value only where something follows that cannot belong to it.
_BARE: Final = re.compile(
    r"""(?:[^\s"',;&)\]}]"""
    r"""|["'](?![\s,;&)\]}]|[.:](?:\s|\Z)|\Z)"""
    r"""|[,;&](?!\s|\Z|[\w.-]{1,64}[ \t]?[=:])"""
    r"""|[)\]}](?![\s,;&)\]}"']|[.:](?:\s|\Z)|\Z))+""",
    re.ASCII,
)
_QUOTE_RUNS: Final = {quote: re.compile(rf"\\*{quote}|\n") for quote in "\"'"}
_NESTED: Final = re.compile(r"""[\[{]\s*\\*["']|\[(?!hidden\])""")
_OPENS_LINES: Final = re.compile(r"[\[{][ \t]{0,40}\r?\n")
_LONGEST_LIST: Final = 4096
_BRACKETS: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|[\[\]{}]|\n')


# | password | two words |; without a bar behind it, one word.
_CELLS: Final = {
    bar: re.compile(
        rf"(?:[^{bar}\r\n\\]|\\.)*(?=[{bar}](?!\|))|[^\s{bar}]+(?=[ \t]{{0,40}}(?:\([\w.$]{{1,200}}\))?(?:[\r\n]|\Z))"
    )
    for bar in "|│┃║"
}


class Value(NamedTuple):
    """Where a value starts and ends; `is_bare` if only a blank or a separator ends it."""

    start: int
    end: int
    is_bare: bool = False


def value_behind(text: str, head: re.Match[str], masked_to: int) -> Value:
    """Return the value behind a name.

    Args:
        text: The text.
        head: The name and what stands between it and its value, with the groups of `named_secrets`.
        masked_to: Where the value before ends, which may hold this name.
    """
    start = head.end()
    if head["sign"] and (tag := _YAML_TAG.match(text, start)):
        start = tag.end()
    if text.startswith(MASK, start):
        return _behind_mask(text, start)
    if _NULL.match(text, start):
        return Value(start, start)
    if head["sign"] and (lines := _of_lines(text, head, start)) is not None:
        return lines
    if head["tag"]:
        return Value(start, _element_end(text, start))
    if head["bar"]:
        cell = _CELLS[head["bar"].strip()].match(text, start)
        return Value(start, start if cell is None else start + len(cell[0].rstrip()))
    if head["open"] and not OPENER.match(text, start):
        return Value(start, _bracket_end(text, start, _CLOSING[head["open"].strip()[0]]))
    to_line_end = _is_setting(text, head)
    opener = OPENER.match(text, start)
    if opener is not None and not (to_line_end and "=" in head["sign"]):
        return _quoted(text, opener, spans_lines=to_line_end or (head["sign"] or "").strip() == ":")
    if to_line_end or "jaas" in head["name"]:
        return Value(start, _line_end(text, start))
    if _NESTED.match(text, start):
        return Value(start, _closing_bracket(text, start))
    if start < masked_to:  # Within a bare value, which ends where this one does.
        continues = text[masked_to - 1] == "\\" and text.startswith(("\n", "\r\n"), masked_to)
        return Value(start, _line_end(text, start)) if continues else Value(start, start, is_bare=True)
    return _in_message(text, head, start)


def _behind_mask(text: str, start: int) -> Value:
    """Return what directly follows a mask, with the mask: a part of the value, unless a separator ends it."""
    end = start
    while text.startswith(MASK, end):
        end += len(MASK)
    rest = _BARE.match(text, end) if _STUCK.match(text, end) else None
    return Value(start, start if rest is None else rest.end())


def _of_lines(text: str, head: re.Match[str], start: int) -> Value | None:
    """Return a value that takes several lines, or stands in the line below; None if it does neither."""
    if block := _YAML_BLOCK.match(text, start):
        return Value(start, _block_end(text, block))
    if opened := _HEREDOC.match(text, start):
        closed = re.compile(rf"\n[ \t]{{0,80}}{opened['word']}(?!\w)").search(
            text, opened.end() - 1, opened.end() + _LONGEST_LINES
        )
        return Value(opened.end(), _limit(text, opened.end()) if closed is None else closed.start())
    if opened := _TRIPLE.match(text, start):
        end = text.find(opened["quotes"], opened.end(), opened.end() + _LONGEST_LINES)
        return Value(opened.end(), _limit(text, opened.end()) if end < 0 else end)
    if (below := _YAML_BELOW.match(text, start)) and _LINE_KEY.search(text, head.start(), start):
        return Value(below.start("value"), below.end())
    if (below := _BELOW.match(text, start)) and _starts_line(text, head, may_be_quoted=True) is not None:
        return Value(below.start("value"), below.end("value"))
    return None


def _limit(text: str, start: int) -> int:
    return min(start + _LONGEST_LINES, len(text))


def _in_message(text: str, head: re.Match[str], start: int) -> Value:
    """Return a value without quotes that stands among other words."""
    if head["sign"] == " = ":
        return Value(start, _before_next(text, start))
    name = head.start("name")
    if head["sign"] == "=" and _IN_CONNECTION_STRING.search(text, max(name - _BEFORE, 0), name):
        found = _TO_SEMICOLON.match(text, start)
        return Value(start, start if found is None else found.end(), is_bare=True)
    bare = _BARE.match(text, start)
    if bare is None:
        return Value(start, start)
    end = bare.end()
    if head["sign"] == "=" and text[end : end + 1] == " " and _IN_MAP.search(text, max(name - _BEFORE, 0), name):
        entry = _TO_NEXT_ENTRY.match(text, end)
        end = end if entry is None or text[entry.end() : entry.end() + 1] not in (",", "}") else entry.end()
    if text[end - 1] == "\\" and text.startswith(("\n", "\r\n"), end):
        return Value(start, _line_end(text, start))
    if text[end : end + 1] in ('"', "'"):  # the backslashes belong to the quote that follows
        end = start + len(text[start:end].rstrip("\\"))
    return Value(start, end, is_bare=True)


def _is_setting(text: str, head: re.Match[str]) -> bool:
    """Return whether a line is `name=value` or `name: value` and nothing else, so that the value may hold blanks."""
    sign = (head["sign"] or "").strip()
    if sign not in ("=", ":", "＝", "：") or (found := _starts_line(text, head)) is None:
        return False
    key = found["key"] + text[head.start("name")]
    return sign in ("=", "＝") or not key[0].isupper()


def _starts_line(text: str, head: re.Match[str], *, may_be_quoted: bool = False) -> re.Match[str] | None:
    """Return what stands before a name in its line if this is the beginning of a key, and marks of lists and shells."""
    name = head.start("name")
    line = text.rfind("\n", max(name - _LONGEST_START, 0), name) + 1
    if not line and name > _LONGEST_START:
        return None
    before = text[line:name]
    return _LINE_START.match(before.replace('"', "", 1) if may_be_quoted else before)


def _line_end(text: str, start: int) -> int:
    found = _TO_LINE_END.match(text, start)
    return start if found is None else start + len(found[0].rstrip())


def _before_next(text: str, start: int) -> int:
    """Return where a value that may hold blanks ends within a message: before another setting or the logger's name."""
    found = _TO_NEXT.match(text, start)
    end = start if found is None else found.end()
    if text[end - 1 : end] == "\\":
        return _line_end(text, start)
    logger = _LOGGER.search(text, max(start, end - 203), end)
    return start + len(text[start : end if logger is None else logger.start()].rstrip())


def _block_end(text: str, block: re.Match[str]) -> int:
    """Return the end of the lines that are indented at least like the first one of a YAML block."""
    end = block.end()
    while text.startswith(block["indent"], end + 1) and text.startswith("\n", end):
        newline = text.find("\n", end + 1)
        end = len(text) if newline < 0 else newline
    return end


def _bracket_end(text: str, start: int, closing: str) -> int:
    end = text.find(closing, start, start + _LONGEST_IN_BRACKETS)
    if end < 0 or text[end + 1 : end + 2].isalnum():
        return _line_end(text, start)
    return end


def _element_end(text: str, start: int) -> int:
    """Return where the text of an XML element ends; a CDATA section belongs to it."""
    if section := _CDATA.match(text, start):
        end = text.find("]]>", section.end())
        return len(text) if end < 0 else end + 3
    found = _UNTIL_TAG.match(text, start)
    return start if found is None else found.end()


def _quoted(text: str, opener: re.Match[str], *, spans_lines: bool) -> Value:
    """Return what stands between an opening quote and its closing one, or the end of the line.

    The value of a setting may continue in lines that are indented, as in YAML.

    A quote that is escaped `n` times has `2**n - 1` backslashes before it; one inside the value has more.
    """
    start, depth = opener.end(), len(opener["escape"])
    if text.startswith(MASK, start):
        return _behind_mask(text, start)
    doubled_at = line_end = -1
    for found in _QUOTE_RUNS[opener["quote"]].finditer(text, start):
        if found[0] == "\n":
            line_end = found.start() if line_end < 0 else line_end
            is_within = spans_lines and _CONTINUES.match(text, found.end()) is not None
            if not is_within or found.end() - start > _LONGEST_QUOTED_LINES:
                break
            continue
        backslashes = len(found[0]) - 1
        after = text[found.end() : found.end() + 1]
        if found.start() == doubled_at:
            continue
        if after == opener["quote"] and found.start() > start:  # SQL doubles a quote inside a value
            doubled_at = found.end()
            continue
        if backslashes < depth:
            return Value(start, found.start())
        if backslashes % (2 * (depth + 1)) == depth and not (after.isalnum() or after == "_"):
            return Value(start, found.end() - 1 - depth)
    return Value(start, _line_end(text, start))


def _closing_bracket(text: str, start: int) -> int:
    """Return where the bracket that opens a value is closed; the end of the line if it is not."""
    depth = 0
    has_lines = _OPENS_LINES.match(text, start) is not None
    for found in _BRACKETS.finditer(text, start, start + _LONGEST_LIST if has_lines else len(text)):
        if found[0] == "\n" and not has_lines:
            break
        depth += (found[0] in "[{") - (found[0] in "]}")
        if not depth and found.end() > start + 1:
            return found.end()
    return min(start + _LONGEST_LIST, len(text)) if has_lines else _line_end(text, start)


def further_value(text: str, head: re.Match[str], value: Value) -> Value | None:
    """Return the value that follows one of the same name: the new one, or one that is appended."""
    found = _FURTHER.match(text, value.end)
    if found is None or (found["to"] and "from" not in (head["blank"] or "")):
        return None
    opener = OPENER.match(text, found.end())
    if opener is not None:
        return _quoted(text, opener, spans_lines=False)
    bare = _BARE.match(text, found.end())
    return None if bare is None else Value(found.end(), bare.end(), is_bare=True)
