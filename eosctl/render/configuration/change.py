"""What an upgrade changes for configurations, and repairs of them, for people and machines."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from eosctl.findings.repair import Repair
from eosctl.model.redaction import masked, secret_spans, setting_text
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
_MASKED_PATCH: Final = "Secrets are masked in this patch, so that it cannot be applied; --yes writes the file."
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
    """Return a unified diff without surrounding lines, which may hold secrets; those of changed lines are masked."""
    name = file.lstrip("/")
    lines: Sequence[str] = list(
        difflib.unified_diff(before.splitlines(), after.splitlines(), f"a/{name}", f"b/{name}", lineterm="", n=0)
    )
    if not lines:
        return ""
    masks = _lines_with_secrets(before) | _lines_with_secrets(after)
    shown = [line if line.startswith("@@") else line[0] + masks.get(line[1:], line[1:]) for line in lines[2:]]
    remark = [_MASKED_PATCH] if shown != lines[2:] else []
    return "\n".join([*remark, *lines[:2], *shown]) + "\n"


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
