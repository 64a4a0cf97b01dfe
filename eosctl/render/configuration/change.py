"""What an upgrade changes for configurations, and repairs of them, for people and machines."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

import msgspec

from eosctl.findings.repair import Repair
from eosctl.model.redaction import masked, redact_text, secret_spans, setting_text
from eosctl.model.upgrade import UpgradeChange
from eosctl.render.envelope import listing
from eosctl.render.formats import FOR_PEOPLE, OutputFormat
from eosctl.render.listing import Column, render_listing
from eosctl.render.page import Style


class UpgradeItem(msgspec.Struct, frozen=True):
    """One thing that an upgrade changes; ``line`` is 0 where nothing stands in a file."""

    kind: str
    severity: str
    file: str
    line: int
    key: str
    before: str
    after: str
    text: str
    rule: str


class RepairItem(msgspec.Struct, frozen=True):
    """One edit; ``obstacle`` says why it must be made by hand, empty when it can be applied."""

    rule: str
    file: str
    line: int
    key: str
    action: str
    text: str
    reason: str
    obstacle: str


UPGRADE_COLUMNS: Final[tuple[Column[UpgradeItem], ...]] = (
    Column("KIND", lambda item: item.kind),
    Column("SEVERITY", lambda item: item.severity),
    Column("WHERE", lambda item: f"{item.file}:{item.line}" if item.line else item.file),
    Column("KEY", lambda item: item.key or "-"),
    Column("BEFORE", lambda item: item.before or "-"),
    Column("AFTER", lambda item: item.after or "-"),
    Column("WHAT", lambda item: f"{item.text}{f' [{item.rule}]' if item.rule else ''}"),
)
_PARTIAL_PATCH: Final = (
    "This patch cannot be applied: secrets are masked, other settings of a line left out. --yes writes the file."
)
# What stands between the settings of one line.
_SETTINGS: Final = re.compile(r"([{}\[\](),;])")
REPAIR_COLUMNS: Final[tuple[Column[RepairItem], ...]] = (
    Column("RULE", lambda item: item.rule),
    Column("WHERE", lambda item: f"{item.file}:{item.line}"),
    Column("KEY", lambda item: item.key),
    Column("EDIT", lambda item: f"{item.action} {item.text}".strip() if not item.obstacle else "by hand"),
    Column("WHY", lambda item: item.obstacle or item.reason),
)


def _upgrade_item(change: UpgradeChange) -> UpgradeItem:
    """Shape a change; secrets are masked."""
    place = change.place
    return UpgradeItem(
        kind=change.kind.value,
        severity=change.severity.value,
        file=place.file if place is not None else change.name,
        line=place.line if place is not None else 0,
        key=change.key,
        before=setting_text(change.key, change.before) if change.before else "",
        after=change.after,
        text=change.text,
        rule=change.rule,
    )


def _repair_item(repair: Repair, obstacle: str) -> RepairItem:
    """Shape a repair."""
    return RepairItem(
        rule=repair.check_id,
        file=repair.file,
        line=repair.line,
        key=repair.key,
        action=repair.action.value,
        text=repair.text,
        reason=repair.reason,
        obstacle=obstacle,
    )


def _patch(file: str, before: str, after: str) -> str:
    """Return a unified diff without surrounding lines and, in a changed line, without its other settings.

    Both may hold secrets; those of what is shown are masked.
    """
    name = file.lstrip("/")
    lines: Sequence[str] = list(
        difflib.unified_diff(before.splitlines(), after.splitlines(), f"a/{name}", f"b/{name}", lineterm="", n=0)
    )
    if not lines:
        return ""
    masks = _lines_with_secrets(before) | _lines_with_secrets(after)
    shown: list[str] = []
    for is_place, group in groupby(lines[2:], lambda line: line.startswith("@@")):
        hunk = list(group)
        shown += hunk if is_place else _shown_edits(hunk, masks)
    remark = [_PARTIAL_PATCH] if shown != lines[2:] else []
    return "\n".join([*remark, *lines[:2], *shown]) + "\n"


def _shown_edits(hunk: list[str], masks: Mapping[str, str]) -> Iterator[str]:
    removed = [line[1:] for line in hunk if line.startswith("-")]
    added = [line[1:] for line in hunk if line.startswith("+")]
    if len(removed) != len(added):
        yield from (line[0] + masks.get(line[1:], line[1:]) for line in hunk)
        return
    edits = [_around_edit(*pair) for pair in zip(removed, added, strict=True)]
    yield from (f"-{masks.get(old, redact_text(old))}" for old, _ in edits)
    yield from (f"+{masks.get(new, redact_text(new))}" for _, new in edits)


def _around_edit(old: str, new: str) -> tuple[str, str]:
    """Return the settings that an edit changes in a line, before and after.

    >>> _around_edit('{foo = "x", acks = 1}', '{foo = "x", acks = "all"}')
    ('… acks = 1…', '… acks = "all"…')
    """
    before, after = _SETTINGS.split(old), _SETTINGS.split(new)
    shown: tuple[list[str], list[str]] = [], []
    for kind, first, last, start, end in difflib.SequenceMatcher(None, before, after, False).get_opcodes():
        alike = "".join(before[first:last])
        for side, parts in zip(shown, (before[first:last], after[start:end]), strict=True):
            side.append("…" if kind == "equal" and alike.strip() else "".join(parts))
    return "".join(shown[0]), "".join(shown[1])


def _lines_with_secrets(text: str) -> dict[str, str]:
    """Return the lines of a text that hold secrets, each with its masked form."""
    spans, start, found = secret_spans(text), 0, {}
    for line in text.splitlines(keepends=True) if spans else ():
        (bare,) = line.splitlines()
        shown = masked(text, spans, start, start + len(bare))
        if shown != bare:
            found[bare] = shown
        start += len(line)
    return found


def render_upgrade(changes: Iterable[UpgradeChange], now_ms: int, output: OutputFormat, style: Style) -> str:
    """Render what an upgrade changes."""
    result = listing("config-upgrade", "config upgrade", now_ms, tuple(map(_upgrade_item, changes)))
    return render_listing(result, UPGRADE_COLUMNS, output, style, empty="The upgrade changes nothing here.")


def render_fixes(
    repairs: Iterable[tuple[Repair, str]],
    before: Mapping[str, str],
    after: Mapping[str, str],
    now_ms: int,
    output: OutputFormat,
    style: Style,
) -> str:
    """Render repairs, each with what prevents it; for people with the patch of each file."""
    result = listing("config-fix", "config fix", now_ms, tuple(_repair_item(*one) for one in repairs))
    text = render_listing(result, REPAIR_COLUMNS, output, style, empty="Nothing can be fixed without a choice.")
    if output not in FOR_PEOPLE:
        return text
    patches = [_patch(name, before[name], after[name]) for name in before]
    return "\n".join([text, *(patch for patch in patches if patch)])
