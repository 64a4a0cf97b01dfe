"""A setting explained: where it exists, its default by release, its effect, and the rules that read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec


class SpanItem(msgspec.Struct, frozen=True):
    """What holds from a release on."""

    since: str
    default: str | None
    bounds: str


class SettingItem(msgspec.Struct, frozen=True):
    """A setting of one component; ``software`` is whose releases its spans name.

    ``removed`` is the first release without it, or empty; ``update`` says how a changed value takes effect.
    """

    component: str
    software: str
    name: str
    type: str
    spans: tuple[SpanItem, ...]
    removed: str
    alias: str
    update: str
    effect: str
    rules: tuple[str, ...]


class ExplainedSetting(NamedTuple):
    """A setting in every component that has it; ``oldest`` is the first release that is known of each component."""

    items: tuple[SettingItem, ...]
    oldest: Mapping[str, str]
