"""What an upgrade means for configurations: what is gone, renamed or different by default, and what is refused then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.checks.judge import judge
from eosctl.checks.registry import checks_reading
from eosctl.findings.linted import findings_of
from eosctl.model.deployment import Component, Deployment, Place, Role, Value
from eosctl.model.parameter import ParameterTable, Release
from eosctl.model.severity import Severity
from eosctl.model.upgrade import ChangeKind, Step, Successor, UpgradeChange, UpgradeKnowledge
from eosctl.text import release_text

# The entries on removed settings report this already.
REMOVED_RULE: Final = "EOS-CFG-109"


def plan_upgrade(old: Deployment, new: Deployment, knowledge: UpgradeKnowledge) -> tuple[UpgradeChange, ...]:
    """Compare what the same files mean in two releases.

    Args:
        old: The files, read for the present release.
        new: The same files, read for the next one.
        knowledge: What came in the place of what.

    Returns:
        The worst first: found wrong, removed, renamed, changed defaults, steps.
    """
    changes = [*_found_wrong(old, new)]
    for before, after in zip(old.components, new.components, strict=True):
        table = new.table(after)
        if table is not None:
            changes += _written(before, after, table, knowledge)
            changes += _by_default(before, after, table)
    changes += _steps(old, new, knowledge.steps)
    order = list(ChangeKind)
    return tuple(
        dict.fromkeys(sorted(changes, key=lambda c: (c.severity.rank, order.index(c.kind), c.place or ("", 0))))
    )


def _found_wrong(old: Deployment, new: Deployment) -> Iterator[UpgradeChange]:
    known = {(f.check_id, f.severity, f.facts) for f in findings_of(judge(old))}
    for finding in findings_of(judge(new)):
        if (finding.check_id, finding.severity, finding.facts) in known or finding.check_id == REMOVED_RULE:
            continue
        facts = dict(finding.facts)
        place = Place(str(facts["file"]), int(facts["line"]))
        text = f"{finding.message} {finding.remedy[0]}"
        key, value = str(facts["keys"]), str(facts["value"])
        name = finding.resource.name
        yield UpgradeChange(
            kind=ChangeKind.FINDING,
            severity=finding.severity,
            name=name,
            key=key,
            place=place,
            before=value,
            after="",
            text=text,
            rule=finding.check_id,
        )


def _written(
    before: Component, after: Component, table: ParameterTable, knowledge: UpgradeKnowledge
) -> Iterator[UpgradeChange]:
    successors = knowledge.successors.get(table.component, {})
    renamings = knowledge.renamings.get(table.component, {})
    for name, value in after.given.items():
        if not _is_own(value, name):
            continue
        parameter = table.parameters.get(name)
        removed = parameter.removed if parameter is not None else None
        if removed is not None and before.release < removed <= after.release:
            successor = successors.get(name, Successor("", ""))
            text = f"Removed in {release_text(removed)}: ignored. {successor.note}".strip()
            yield _change(ChangeKind.REMOVED, Severity.WARNING, after, value, successor.name, text)
        renaming = renamings.get(name)
        if renaming is not None and before.release < renaming.since <= after.release:
            text = f"{renaming.name} since {release_text(renaming.since)}; the old name is deprecated."
            yield _change(ChangeKind.RENAMED, Severity.INFO, after, value, renaming.name, text)


def _is_own(value: Value, name: str) -> bool:
    """Return whether a setting was written for this component, and did not merely reach it."""
    return value.key == name or value.key.endswith(f".{name}") or "." not in value.key


def _change(
    kind: ChangeKind, severity: Severity, component: Component, value: Value, after: str, text: str
) -> UpgradeChange:
    return UpgradeChange(
        kind=kind,
        severity=severity,
        name=component.name,
        key=value.key,
        place=value.place,
        before=value.text or "",
        after=after,
        text=text,
    )


def _by_default(before: Component, after: Component, table: ParameterTable) -> Iterator[UpgradeChange]:
    """Yield defaults that differ, of settings that some rule judges: others do not touch exactly-once."""
    for name in table.parameters:
        if name in after.given or not checks_reading(name):
            continue
        one, other = before.value(name), after.value(name)
        if one.text != other.text and name in before.defaults and name in after.defaults:
            yield UpgradeChange(
                kind=ChangeKind.DEFAULT,
                severity=Severity.INFO,
                name=after.name,
                key=name,
                place=None,
                before=one.text or "",
                after=other.text or "",
                text="The default differs. Write it down to keep the old one.",
            )


def _steps(old: Deployment, new: Deployment, steps: Sequence[Step]) -> Iterator[UpgradeChange]:
    for step in steps:
        parts = zip(old.of(Role(step.role)), new.of(Role(step.role)), strict=True)
        concerned = [after for before, after in parts if _crosses(before.release, step.crosses, after.release)]
        if concerned:
            yield UpgradeChange(
                kind=ChangeKind.STEP,
                severity=Severity.INFO,
                name=step.role,
                key="",
                place=None,
                before="",
                after=f"{step.crosses[0]}.{step.crosses[1]}",
                text=step.text,
            )


def _crosses(old: Release, border: Release, new: Release) -> bool:
    return old < border <= new
