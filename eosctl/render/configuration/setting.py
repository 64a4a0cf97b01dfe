"""A setting explained: where it exists, its default by release, what it means for exactly-once, who judges it."""

from __future__ import annotations

import msgspec

from eosctl.checks.registry import checks_reading
from eosctl.knowledge.parameter_tables import SPRING_PREFIX, load_tables
from eosctl.knowledge.setting_effects import load_setting_effects
from eosctl.knowledge.update_modes import explain_update
from eosctl.render.envelope import listing
from eosctl.render.formats import OutputFormat
from eosctl.render.one import render_one
from eosctl.render.page import PLAIN, Block, Field, Grid, Line, Style, render_page
from eosctl.text import release_text


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


def explain_setting(name: str) -> tuple[SettingItem, ...]:
    """Return what every component says about a setting; nothing when none has it."""
    rules = tuple(f"{rule.id} {rule.title}" for rule in checks_reading(name))
    items: list[SettingItem] = []
    for component, table in load_tables().items():
        is_springs = component == "spring" and name.lower().startswith(SPRING_PREFIX)
        own = name.lower().removeprefix(SPRING_PREFIX)
        parameter = table.declared(own) if is_springs else table.parameters.get(name)
        if parameter is None:
            continue
        spans = tuple(SpanItem(release_text(span.since), span.default, span.bounds) for span in parameter.spans)
        removed = "" if parameter.removed is None else release_text(parameter.removed)
        effect = load_setting_effects().get(parameter.name, "")
        update = explain_update(component, name)
        alias = parameter.alias
        items.append(
            SettingItem(
                component, table.software, parameter.name, parameter.type, spans, removed, alias, update, effect, rules
            )
        )
    return tuple(items)


def render_setting(items: tuple[SettingItem, ...], now_ms: int, output: OutputFormat, style: Style = PLAIN) -> str:
    """Render a setting, of which there is at least one item."""
    rows = ((item.component, span.since, span.default or "") for item in items for span in item.spans)
    result = listing("setting", "config explain", now_ms, items)
    return render_one(result, output, lambda: rows, lambda: _page(items, style))


def _page(items: tuple[SettingItem, ...], style: Style) -> str:
    blocks: list[Block] = [Line(items[0].name, "bold")]
    if items[0].effect:
        blocks += [Line(""), Line(items[0].effect)]
    rows: list[tuple[str, ...]] = []
    tables = load_tables()
    for item in items:
        for index, span in enumerate(item.spans):
            default = "(none)" if span.default is None else span.default or '""'
            first = release_text(tables[item.component].first)
            since = f"{span.since}" + (" or earlier" if index == 0 and span.since == first else "")
            rows.append(
                (item.component if index == 0 else "", item.type if index == 0 else "", since, default, span.bounds)
            )
        if item.removed:
            rows.append(("", "", item.removed, "removed", ""))
    blocks += [Line(""), Grid(tuple(rows), ("COMPONENT", "TYPE", "SINCE", "DEFAULT", "BOUNDS"))]
    blocks += [
        Line(f"Releases of {item.component} are those of {item.software}.")
        for item in items
        if item.software != "Kafka"
    ]
    by_update: dict[str, list[str]] = {}
    for item in items:
        by_update.setdefault(item.update, []).append(item.component)
    blocks += [Line(""), Line("A changed value counts", "bold")]
    blocks += [Line(f"  {update}: {', '.join(components)}") for update, components in by_update.items()]
    if items[0].rules:
        blocks += [Line(""), Line("Rules that read it", "bold")]
        blocks += [Field(rule.partition(" ")[0][-7:], rule.partition(" ")[2]) for rule in items[0].rules]
    return render_page(blocks, style)
