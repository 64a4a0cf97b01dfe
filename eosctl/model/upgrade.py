"""What changes for a configuration when the release under it changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import NamedTuple

from eosctl.model.parameter import Release
from eosctl.model.value import dataclass


class Successor(NamedTuple):
    """What came in the place of a setting; ``name`` is empty where nothing did."""

    name: str
    note: str


class Renaming(NamedTuple):
    """A newer name of a setting, and the first release that has it."""

    name: str
    since: Release


class Step(NamedTuple):
    """Something to do beyond files, for a role, when an upgrade crosses a release."""

    role: str
    crosses: Release
    text: str


@dataclass(frozen=True, slots=True)
class UpgradeKnowledge:
    """Successors and renamings by component and name, and the steps in their order."""

    successors: Mapping[str, Mapping[str, Successor]] = field(default_factory=dict)
    renamings: Mapping[str, Mapping[str, Renaming]] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
