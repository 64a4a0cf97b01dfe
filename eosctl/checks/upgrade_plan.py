"""What another release means for configurations: what is gone, renamed or different by default, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from eosctl.checks.judge import judge
from eosctl.checks.registry import checks_reading
from eosctl.findings.linted import findings_of
from eosctl.model.deployment import FRAMEWORKS, Component, Deployment, Place, Role, Value
from eosctl.model.parameter import ParameterTable, Release
from eosctl.model.severity import Severity
from eosctl.model.upgrade import ChangeKind, Step, Successor, UpgradeChange, UpgradeKnowledge
from eosctl.text import release_text

# The entries on settings that one of the releases lacks report this already.
_LACKING: Final = ("EOS-CFG-109", "EOS-CFG-141")
_DEFAULT_DIFFERS: Final = "The default differs. Write it down to keep the old one."


def plan_upgrade(old: Deployment, new: Deployment, knowledge: UpgradeKnowledge) -> tuple[UpgradeChange, ...]:
    """Compare what the same files mean in two releases.

    Args:
        old: The files, read for the present release.
        new: The same files, read for the next one, which may be an earlier release.
        knowledge: What came in the place of what, and the steps in this direction.

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
    return _ordered(changes)


def plan_release_change(
    before: Release, after: Release, tables: Mapping[str, ParameterTable], knowledge: UpgradeKnowledge
) -> tuple[UpgradeChange, ...]:
    """Compare two releases for all components, where no files were named; nothing of it is above information."""
    old, new = (_without_settings(release, tables) for release in (before, after))
    changes: list[UpgradeChange] = []
    for one, other in zip(old.components, new.components, strict=True):
        table = tables[one.role.value]
        for name in table.parameters:
            effect = _effect(name, before, after, table, knowledge)
            if effect is not None and effect.kind is ChangeKind.REMOVED:
                changes.append(_change(effect, Severity.INFO, other, Value(name, "", name)))
        changes += _by_default(one, other, table)
    changes += _steps(old, new, knowledge.steps)
    return _ordered(changes)


def _without_settings(release: Release, tables: Mapping[str, ParameterTable]) -> Deployment:
    """Return one component of each role, with its defaults alone."""
    roles = [role for role in Role if role not in FRAMEWORKS and role.value in tables]
    defaults = {role: tables[role.value].defaults(release) for role in roles}
    return Deployment(
        tuple(
            Component(role, role.value, Place("", 0), role.value, defaults=defaults[role], release=release)
            for role in roles
        ),
        tables,
    )


def _ordered(changes: Sequence[UpgradeChange]) -> tuple[UpgradeChange, ...]:
    order = list(ChangeKind)
    return tuple(
        dict.fromkeys(sorted(changes, key=lambda c: (c.severity.rank, order.index(c.kind), c.place or ("", 0))))
    )


def _found_wrong(old: Deployment, new: Deployment) -> Iterator[UpgradeChange]:
    known = {(f.check_id, f.severity, f.facts) for f in findings_of(judge(old))}
    for finding in findings_of(judge(new)):
        if (finding.check_id, finding.severity, finding.facts) in known or finding.check_id in _LACKING:
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


class _Effect(NamedTuple):
    """What happens to a setting that is written down."""

    kind: ChangeKind
    severity: Severity
    successor: str
    text: str


def _effect(
    name: str, before: Release, after: Release, table: ParameterTable, knowledge: UpgradeKnowledge
) -> _Effect | None:
    parameter = table.parameters.get(name)
    renamings = knowledge.renamings.get(table.component, {})
    # The table may begin after the earlier of the releases, which it then does not describe.
    if parameter is not None and parameter.removed is not None and before < parameter.removed <= after:
        successor = knowledge.successors.get(table.component, {}).get(name, Successor("", ""))
        text = f"Removed in {release_text(parameter.removed)}: ignored. {successor.note}".strip()
        return _Effect(ChangeKind.REMOVED, Severity.WARNING, successor.name, text)
    if (
        parameter is not None
        and parameter.at(before) is not None
        and table.first <= after
        and parameter.at(after) is None
    ):
        older = next((old for old, renaming in renamings.items() if renaming.name == name), "")
        return _Effect(ChangeKind.REMOVED, Severity.WARNING, older, f"Not in {release_text(after)}: ignored.")
    renaming = renamings.get(name)
    if renaming is not None and before < renaming.since <= after:
        text = f"{renaming.name} since {release_text(renaming.since)}; the old name is deprecated."
        return _Effect(ChangeKind.RENAMED, Severity.INFO, renaming.name, text)
    return None


def _written(
    before: Component, after: Component, table: ParameterTable, knowledge: UpgradeKnowledge
) -> Iterator[UpgradeChange]:
    for name, value in after.given.items():
        if not _is_own(value, name):
            continue
        effect = _effect(name, before.release, after.release, table, knowledge)
        if effect is not None:
            yield _change(effect, effect.severity, after, value)


def _is_own(value: Value, name: str) -> bool:
    """Return whether a setting was written for this component, and did not merely reach it."""
    return value.key == name or value.key.endswith(f".{name}") or "." not in value.key


def _change(effect: _Effect, severity: Severity, component: Component, value: Value) -> UpgradeChange:
    return UpgradeChange(
        kind=effect.kind,
        severity=severity,
        name=component.name,
        key=value.key,
        place=value.place,
        before=value.text or "",
        after=effect.successor,
        text=effect.text,
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
                text="It has no default any more." if other.text is None else _DEFAULT_DIFFERS,
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
    return min(old, new) < border <= max(old, new)
