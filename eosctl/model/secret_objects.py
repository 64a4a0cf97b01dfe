"""Find secrets in objects that are secret as a whole: Secrets of Kubernetes, vaults of Ansible, and keys of PuTTY.

The names of their fields are of no help, so all values of the object are masked. Each character is read a bounded
number of times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_Span = tuple[int, int]

_LONGEST: Final = 1 << 16
_SECRET: Final = re.compile(
    r"\bkind\\*[\"']?\s{0,8}[:=]\s{0,8}\\*[\"']?Secret(?:List)?\b|&?\bSecret\{(?=ObjectMeta|TypeMeta)", re.ASCII
)
_DOCUMENT_END: Final = re.compile(r"(?:\A|\n)---")
# data: and the lines below it
_BLOCK: Final = re.compile(r"(?:\A|\n)(?P<indent>[ ]{0,80})(?:data|stringData):[ \t]{0,8}(?:#[^\n]*)?\r?(?=\n)")
_ENTRY: Final = re.compile(
    r"[ ]{0,200}(?:\"[^\"\n]{1,253}\"|'[^'\n]{1,253}'|[\w./-]{1,253}):[ \t]{1,8}(?=\S)", re.ASCII
)
# "data": {, stringData: {, Data:map[string][]byte{
_MAP: Final = re.compile(
    r"\b(?:data|stringData|Data|StringData)\\*[\"']?\s{0,8}[:=]\s{0,8}(?:map\[string\](?:\[\]byte|string))?\{"
)
_BRACKET: Final = re.compile(r"\"(?:[^\"\\\n]|\\.)*+\"|[{}]")
# Lines of hexadecimal or Base64 digits below a first line
_ARMORED: Final = re.compile(
    r"(?:\$ANSIBLE_VAULT;[\d.]{1,8};\w{1,16}(?:;\w{1,64})?|\bPrivate-Lines:[ ]\d{1,4})[ \t]{0,8}"
    r"(?P<lines>(?:\r?\n[ \t]{0,80}[\w+/=]{1,128}[ \t]{0,8}(?=[\r\n]|\Z))+)",
    re.ASCII,
)
# The members of a JSON Web Key that are private: a symmetric key, and the parts of an asymmetric one
_WEB_KEY: Final = re.compile(
    r"\\*\"(?:k|d|p|q|dp|dq|qi)\\*\"\s{0,8}:\s{0,8}\\*\"(?P<value>[\w+/=-]{16,4096})", re.ASCII
)


def object_spans(text: str) -> Iterator[_Span]:
    """Yield start and end of each secret in objects that hold nothing else."""
    if "$ANSIBLE_VAULT" in text or "Private-Lines" in text:
        for found in _ARMORED.finditer(text):
            yield found.span("lines")
    if '"kty' in text:
        for found in _WEB_KEY.finditer(text):
            yield found.span("value")
    if "Secret" not in text or "ata" not in text or _SECRET.search(text) is None:
        return
    for start, end in _documents(text):
        if _SECRET.search(text, start, end) is None:
            continue
        for block in _BLOCK.finditer(text, start, end):
            yield from _entries(text, block.end(), end, len(block["indent"]))
        closed = start
        for opened in _MAP.finditer(text, start, end):
            if opened.start() >= closed:
                closed = _closing(text, opened.end(), min(end, opened.end() + _LONGEST))
                yield opened.end(), closed


def _documents(text: str) -> Iterator[_Span]:
    """Yield the documents of YAML in a text, which is one if it is not YAML."""
    start = 0
    for found in _DOCUMENT_END.finditer(text):
        yield start, found.start()
        start = found.start()
    yield start, len(text)


def _entries(text: str, position: int, stop: int, indent: int) -> Iterator[_Span]:
    """Yield the values of the lines below `data:` that are indented more than it."""
    while position < stop and text[position] == "\n":
        line_end = text.find("\n", position + 1, stop)
        line_end = stop if line_end < 0 else line_end
        line = text[position + 1 : line_end]
        if line.strip():
            if len(line) - len(line.lstrip(" ")) <= indent:
                return
            entry = _ENTRY.match(line)
            bare = line.lstrip() if entry is None else line[entry.end() :]
            if not bare.rstrip().endswith(":") and bare.rstrip() not in ("|", "|-", "|+", ">", ">-", "{}"):
                yield position + 1 + len(line) - len(bare), position + 1 + len(line.rstrip())
        position = line_end


def _closing(text: str, start: int, stop: int) -> int:
    """Return where the bracket that opened before a place is closed; the end if it is not."""
    depth = 1
    for found in _BRACKET.finditer(text, start, stop):
        depth += (found[0] == "{") - (found[0] == "}")
        if not depth:
            return found.start()
    return stop
