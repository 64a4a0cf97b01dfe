"""The effects of a release upgrade on a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

import msgspec

from eosctl.model.deployment import Place
from eosctl.model.parameter import Release
from eosctl.model.severity import Severity


class Successor(NamedTuple):
    """The replacement of a setting; `name` is empty without one."""

    name: str
    note: str


class Renaming(NamedTuple):
    """A newer name of a setting, and the first release that has it."""

    name: str
    since: Release


class Step(NamedTuple):
    """A step outside of files, for a role, when a change of release crosses a border, up or down."""

    role: str
    crosses: Release
    text: str


class UpgradeKnowledge(msgspec.Struct, frozen=True):
    """Successors and renamings by component and name, the steps of upgrades in order, and limits of downgrades."""

    successors: Mapping[str, Mapping[str, Successor]] = msgspec.field(default_factory=dict)
    renamings: Mapping[str, Mapping[str, Renaming]] = msgspec.field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    limits: tuple[Step, ...] = ()


class ChangeKind(StrEnum):
    """The subject of an entry."""

    FINDING = "finding"
    REMOVED = "removed"
    RENAMED = "renamed"
    DEFAULT = "default"
    STEP = "step"


class UpgradeChange(NamedTuple):
    """A change caused by an upgrade.

    `place` is None for steps and for defaults of settings that are not set. `rule` is the id of the rule that finds an
    error only in the new release.
    """

    kind: ChangeKind
    severity: Severity
    name: str
    key: str
    place: Place | None
    before: str
    after: str
    text: str
    rule: str = ""
