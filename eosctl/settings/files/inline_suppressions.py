"""Comments in configuration files that suppress one rule for one setting.

``# eosctl: ignore EOS-CFG-001 accepted until the move, see CHANGE-4711`` on a line of its own holds for the next line
that is not a comment. After a setting it holds for that line, but not in ``.properties``, ``.env`` and ``.conf`` files,
where a number sign does not begin a comment after a value.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from eosctl.findings.gate_rules import Suppression
from eosctl.input_file import read_input

_MARK: Final = re.compile(r"(?:#|//|!|;|--)\s*eosctl:\s*ignore\b[ \t]*(?P<id>[^\s]*)[ \t]*(?P<reason>.*)")
_COMMENT: Final = ("#", "//", "!", ";", "--")
_ID: Final = re.compile(r"EOS-[A-Z]{3}-\d{3}")
_WHOLE_LINES: Final = (".properties", ".env", ".conf", ".cfg")


class InlineSuppressions(NamedTuple):
    """The suppressions in configuration files, and what is wrong with some of them."""

    suppressions: tuple[Suppression, ...]
    remarks: tuple[str, ...]


def read_inline_suppressions(files: Iterable[str], texts: Mapping[str, str] | None = None) -> InlineSuppressions:
    """Return the suppressions in comments of files that were read before; one without a reason hides nothing.

    Args:
        files: The files.
        texts: Texts that replace the contents of files, by file.
    """
    suppressions: list[Suppression] = []
    remarks: list[str] = []
    for file in files:
        for found in _in_text(file, _text(file, texts or {})):
            (suppressions if isinstance(found, Suppression) else remarks).append(found)  # type: ignore[arg-type]
    return InlineSuppressions(tuple(suppressions), tuple(remarks))


def accepted_in(files: Iterable[str], texts: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    """Return the rules that comments of files suppress, each with its file and line: `a.properties:4`."""
    found = ((file, one) for file in files for one in _in_text(file, _text(file, texts)))
    return frozenset(
        (one.check_id, f"{file}:{one.scope.rpartition(':')[2]}") for file, one in found if isinstance(one, Suppression)
    )


def _text(file: str, texts: Mapping[str, str]) -> str:
    return texts[file] if file in texts else read_input(file).decode("utf-8", errors="replace")


def _in_text(file: str, text: str) -> Iterator[Suppression | str]:
    """Yield the suppressions of a file, and a remark for each that hides nothing."""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        found = _MARK.search(line)
        if found is None:
            continue
        check_id, reason = found["id"].upper().rstrip(":,"), found["reason"].strip().lstrip(":- ")
        is_own_line = line.lstrip().startswith(_COMMENT)
        problem = ""
        if not _ID.fullmatch(check_id):
            problem = "names no rule (EOS-CFG-001)"
        elif not reason:
            problem = f"of {check_id} has no reason"
        elif not is_own_line and file.endswith(_WHOLE_LINES):
            problem = f"of {check_id} follows a value: in this format a comment needs a line of its own"
        target = _next_setting(lines, number) if is_own_line else number
        if not problem and not target:
            problem = f"of {check_id} is followed by no setting"
        if problem:
            yield f"{file}:{number}: the suppression {problem}, so it hides nothing."
        else:
            yield Suppression(check_id, f"{glob.escape(file)}:{target}", reason)


def _next_setting(lines: list[str], number: int) -> int:
    """Return the number of the first line after a comment that is a setting; 0 where none is."""
    for at in range(number, len(lines)):
        text = lines[at].strip()
        if text and not text.startswith(_COMMENT):
            return at + 1
    return 0
