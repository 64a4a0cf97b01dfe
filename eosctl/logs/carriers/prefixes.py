"""Remove the prefixes of users' tools: grep and similar, tools that run on many hosts, editors, and quotes.

Ordinary words may look like prefixes, so a file counts as prefixed only if timestamps follow them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import dropwhile
from pathlib import Path
from typing import Final

from eosctl.logs.carriers.carriers import Inner
from eosctl.logs.carriers.containers import PADDING
from eosctl.logs.carriers.misread import MISREAD, unwrap_misread
from eosctl.logs.files.applications import application_of

_GREP: Final = re.compile(
    rb"(?!\d{1,4}[./-]\d|[ \t])((?:[A-Za-z]:)?[\w .~+@/\\-]{0,300}?[./\\][\w .+@/\\-]{1,200}?)"
    rb"(?::\d{1,9}:|-\d{1,9}-(?![\w.+@\\-]*/)|:)(.*)"
)
_FILE: Final = re.compile(
    rb"(?!\d{1,4}[./-]\d|[ \t])((?:[A-Za-z]:)?[\w .~+@/\\-]{0,300}?[\w+@-]\.(?:log|out|err|txt|jsonl?|trace)"
    rb"(?:[.-]\d{4}-\d\d-\d\d(?:-\d\d)?|\.\d{1,4})?(?:\.(?:gz|log))?)"
    rb"(?::(?:\d{1,9}:)?|-(?:\d{1,9}-(?!\d\d-\d\d\b))?(?![\w.+@-]*[/:]\d{1,9}:))(.*)"
)
"""A path that ends with an extension of logs: the dashes behind it are not a part of the name."""
_NUMBERED: Final = re.compile(rb" {0,12}\d{1,9}(?:\t|:|\| ?|-(?=\D)| {1,2})(.*)")
_HOST: Final = re.compile(
    rb"(?!(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|SEVERE)\b|(?i:stdout|stderr):)([\w.-]{2,253}):"
    + PADDING
    + rb"(.*)"
)
_TAILED: Final = re.compile(
    rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)?) (?!\[|\d\d[OE][ +])([\w./$\[\]-]{1,512}) (.*)"
)
_STAMPED: Final = re.compile(
    rb"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
    rb"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|1\d{9}(?:\.\d{1,9})?)[ \t]{1,4}(?:\| )?(.*)"
)
_MARKED: Final = re.compile(
    rb"(?:[-*] |\+ ?|<[\w.-]{2,253}> |`(?=[^`])|(?:[\w.-]{1,100} ){0,2}[\w.-]{1,100}> )(.*?)`?\r?"
)
_NAMED: Final = re.compile(
    rb"(?!(?i:trace|debug|info|notice|warn|warning|error|exception|fatal|severe|time|at)\b"
    rb"|[IWEF]\d{4}(?:\d{4})?[ \t]+\d\d:)"
    rb"([A-Za-z][\w.-]{1,252})[ \t]{1,80}(\S.*)"
)
_KUBETAIL: Final = re.compile(
    rb"\[(?!\S*thread)([a-z0-9][a-z0-9.-]{0,251}-[a-z0-9]+)(?:[ :/][\w.-]{1,63})?\]" + PADDING + rb"?(.*)"
)
_HEROKU: Final = re.compile(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S{0,16}) (?:app|heroku|kafka)\[([\w.-]{1,80})\]: (.*)")
_PM2: Final = re.compile(rb"\d{1,4}\|([^|\s][^|\n]{0,80}?) *\| ?(.*)", re.DOTALL)
_LOGCLI: Final = re.compile(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S{0,16}) (\{[^}\n]{0,2000}\}) (.*)")
_LABELS: Final = re.compile(rb'(\{\w{1,64}="[^}\n]{0,2000}"\}):? (.*)')
_LABEL: Final = re.compile(rb'\b(?:pod|container|app|job|service_name|unit|filename)="([^"]{1,253})"')
_MONOTONIC: Final = re.compile(rb"\[ {0,10}\d{1,10}\.\d{3,6}\] (\S{1,253}) ([^\s:\[]{1,100})(?:\[\d+\])?: (.*)")
_QUOTED: Final = re.compile(rb"(?:> ?)+(.*)")
_ROW: Final = re.compile(rb"\| *(\S.*?) *\|\s*$", re.DOTALL)
_CELLS: Final = re.compile(rb" +\| +")
_INDENT: Final = "indent"
_COMMAND: Final = re.compile(rb"(?:[\w.@:~/\[\]-]{1,80} ?)?[$#] +[\w./-]{2,}(?: |\r?$)")
_CLOCK: Final = re.compile(rb"\d\d:\d\d")
_FENCE: Final = re.compile(rb" {0,3}(?:```|~~~)")


NAMED: Final = "named"
"""The wrapper of lines after a name and a blank."""
TAILED: Final = "aws-tail"
STAMPED: Final = "stamped"
LABELED: Final = "labels"
MARKED: Final = "marked"
QUOTED: Final = "quoted"
ROW: Final = "row"
NULS: Final = "nuls"
"""The wrapper of a log that was truncated during writes (copytruncate): NULs precede its first line."""


def without_nuls(line: bytes) -> Inner | None:
    """Remove NULs from the beginning of a line."""
    return Inner("", line.lstrip(b"\0")) if line.startswith(b"\0") else None


def _grep(line: bytes) -> Inner | None:
    """Unwrap ``grep -H``, with or without ``-n``; context lines have dashes."""
    found = _FILE.match(line) or _GREP.match(line)
    if found is None:
        return None
    path = found[1].decode("utf-8", "replace")
    return Inner(application_of(Path(path)), found[2], path=path)


def _numbered(line: bytes) -> Inner | None:
    """Unwrap ``grep -n``, ``cat -n``, ``nl``, and editors."""
    found = _NUMBERED.match(line)
    return Inner("", found[1]) if found else None


def _host(line: bytes) -> Inner | None:
    """Unwrap ``pdsh``, ``pssh -P``, and ``clush``."""
    found = _HOST.match(line)
    return Inner(name := found[1].decode(), found[2], host=name) if found else None


def _named(line: bytes) -> Inner | None:
    """Unwrap the name of a machine or container that a blank separates, as ``awk``, ``paste``, and scripts write it."""
    found = _NAMED.match(line)
    return Inner(name := found[1].decode(), found[2], host=name) if found else None


def _kubetail(line: bytes) -> Inner | None:
    found = _KUBETAIL.match(line)
    return Inner(pod := found[1].decode(), found[2], host=pod) if found else None


def _heroku(line: bytes) -> Inner | None:
    found = _HEROKU.match(line)
    return Inner(found[2].decode(), found[3], stamp=found[1].decode()) if found else None


def _tailed(line: bytes) -> Inner | None:
    """Unwrap ``aws logs tail``: the timestamp, the stream, and the line."""
    found = _TAILED.match(line)
    return Inner(found[2].decode(), found[3], stamp=found[1].decode()) if found else None


def _stamped(line: bytes) -> Inner | None:
    """Unwrap ``ts`` and consoles of collectors: a second timestamp before the line."""
    found = _STAMPED.match(line)
    return Inner("", found[2], stamp=found[1].decode()) if found else None


def _marked(line: bytes) -> Inner | None:
    """Unwrap the marks of lists, differences, and code in texts, and names in angle brackets."""
    found = _MARKED.fullmatch(line)
    return Inner("", found[1]) if found else None


def _pm2(line: bytes) -> Inner | None:
    """Unwrap ``pm2 logs``: the number and name of the process, and the line."""
    found = _PM2.match(line)
    return Inner(found[1].decode("utf-8", "replace"), found[2]) if found else None


def _logcli(line: bytes) -> Inner | None:
    """Unwrap Loki's ``logcli query``: the timestamp, the labels, and the line."""
    found = _LOGCLI.match(line)
    if found is None:
        return None
    label = _LABEL.search(found[2])
    return Inner(label[1].decode("utf-8", "replace") if label else "", found[3], stamp=found[1].decode())


def _labeled(line: bytes) -> Inner | None:
    """Unwrap a line of Loki after its labels, as dashboards copy it and ``logcli`` prints it without a timestamp."""
    found = _LABELS.match(line)
    if found is None:
        return None
    label = _LABEL.search(found[1])
    return Inner(label[1].decode("utf-8", "replace") if label else "", found[2])


def _monotonic(line: bytes) -> Inner | None:
    """Unwrap ``journalctl -o short-monotonic``: seconds since the boot of the machine are not a time of day."""
    found = _MONOTONIC.match(line)
    if found is None:
        return None
    return Inner(found[2].decode("utf-8", "replace"), found[3], host=found[1].decode("utf-8", "replace"))


def _quoted(line: bytes) -> Inner | None:
    """Mail and Markdown."""
    found = _QUOTED.match(line)
    return Inner("", found[1]) if found else None


def _row(line: bytes) -> Inner | None:
    """Unwrap a row of a table in Markdown or of a console."""
    found = _ROW.match(line)
    return Inner("", _CELLS.sub(b" ", found[1])) if found else None


PREFIXES: Final[tuple[tuple[str, Callable[[bytes], Inner | None]], ...]] = (
    (MISREAD, unwrap_misread),
    ("monotonic", _monotonic),
    ("heroku", _heroku),
    ("logcli", _logcli),
    (LABELED, _labeled),
    ("pm2", _pm2),
    ("kubetail", _kubetail),
    ("grep", _grep),
    ("numbered", _numbered),
    ("host", _host),
    (QUOTED, _quoted),
    (ROW, _row),
    (TAILED, _tailed),
    (STAMPED, _stamped),
    (MARKED, _marked),
    (NAMED, _named),
)
NAME_SERVICES: Final = frozenset(
    {"monotonic", "heroku", "logcli", LABELED, "pm2", "kubetail", "grep", "host", TAILED, NAMED}
)
"""The prefixes that name a service, a machine, or a file."""


def without_commands(lines: list[bytes]) -> list[bytes]:
    """Return the lines of a copied terminal without its first commands, and without those after the log.

    The output of a command that is not a log has no times. Lines that are nothing but commands are returned unchanged.
    """
    begun = list(dropwhile(_COMMAND.match, lines)) or lines
    timed = next((number for number in range(len(begun), 0, -1) if _CLOCK.search(begun[number - 1])), 0)
    behind = next((number for number in range(timed, len(begun)) if _COMMAND.match(begun[number])), len(begun))
    return begun[:behind] or begun


def is_fence(line: bytes) -> bool:
    """Return whether a line begins or ends a block of code in Markdown."""
    return _FENCE.match(line) is not None


def within_fences(lines: list[bytes]) -> list[bytes]:
    """Return the lines of a text's blocks of code that have times; all lines of a text without such blocks."""
    blocks: list[list[bytes]] = []
    is_inside = False
    for line in lines:
        if is_fence(line):
            is_inside = not is_inside
            blocks.append([])
        elif is_inside:
            blocks[-1].append(line)
    timed = [line for block in blocks if any(map(_CLOCK.search, block)) for line in block]
    return timed or lines


def indentation_of(lines: list[bytes], begins_record: Callable[[bytes], bool]) -> str:
    """Return the name of the wrapper of lines that were indented when pasted; empty if they were not indented.

    The text around a paste, such as the key of a YAML block, need not be indented.
    """
    indented = [line for line in lines if line[:1] in (b" ", b"\t")]
    widths = [len(line) - len(line.lstrip(b" \t")) for line in indented if begins_record(line.lstrip(b" \t"))]
    around = [line for line in lines if line[:1] not in (b" ", b"\t")]
    # The names of tests and tasks are around what a test prints.
    if len(around) > min(max(2, len(lines) // 10), len(indented)) and (
        len(around) > 4 * len(widths) or any(map(begins_record, around))
    ):
        return ""
    return f"{_INDENT}-{min(widths)}" if widths else ""


def unindent(name: str) -> Callable[[bytes], Inner] | None:
    """Return the function that removes the indentation of such a wrapper; None for any other name."""
    kind, _, width = name.partition("-")
    if kind != _INDENT:
        return None
    most = int(width)

    def unwrap(line: bytes) -> Inner:
        blank = min(most, len(line) - len(line.lstrip(b" \t")))
        return Inner("", line[blank:])

    return unwrap
