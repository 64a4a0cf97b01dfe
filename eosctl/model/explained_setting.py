"""A setting explained: where it exists, its default by release, its effect, and the rules that read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec


class SpanItem(msgspec.Struct, frozen=True):
    """The properties of a setting from a release on."""

    since: str
    default: str | None
    bounds: str


class SettingItem(msgspec.Struct, frozen=True):
    """A setting of a component; `software` is the product whose releases its spans use.

    `removed` is the first release without it, or empty; `update` describes how a changed value takes effect.
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
    """A setting in every component that has it; `oldest` is the first known release of each component."""

    items: tuple[SettingItem, ...]
    oldest: Mapping[str, str]
