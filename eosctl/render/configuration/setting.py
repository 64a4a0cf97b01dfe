"""An explained setting, for people and for programs."""

from __future__ import annotations

from eosctl.model.explained_setting import ExplainedSetting
from eosctl.render.envelope import listing
from eosctl.render.formats import OutputFormat
from eosctl.render.one import render_one
from eosctl.render.page import PLAIN, Block, Field, Grid, Line, Style, render_page


def render_setting(setting: ExplainedSetting, now_ms: int, output: OutputFormat, style: Style = PLAIN) -> str:
    """Render a setting with at least one item."""
    items = setting.items
    rows = ((item.component, span.since, span.default or "") for item in items for span in item.spans)
    result = listing("setting", "config explain", now_ms, items)
    return render_one(result, output, lambda: rows, lambda: _page(setting, style))


def setting_markdown(setting: ExplainedSetting) -> str:
    """Render a setting as Markdown: its effect, its defaults by release, and the rules that read it."""
    items = setting.items
    parts = [f"**{items[0].name}**", items[0].effect]
    rows = [
        f"| {item.component} | {span.since} | {_code(span.default)} | {span.bounds} |"
        for item in items
        for span in item.spans
    ]
    parts.append("\n".join(("| Component | Since | Default | Bounds |", "|---|---|---|---|", *rows)))
    parts += [f"Removed in {item.software} {item.removed} ({item.component})." for item in items if item.removed]
    parts.append("\n".join(f"- {rule}" for rule in items[0].rules))
    return "\n\n".join(part for part in parts if part)


def _code(default: str | None) -> str:
    text = (default or "").replace("|", "\\|").replace("`", "'")
    return "(none)" if default is None else f"`{text}`" if text else "(empty)"


def _page(setting: ExplainedSetting, style: Style) -> str:
    items = setting.items
    blocks: list[Block] = [Line(items[0].name, "bold")]
    if items[0].effect:
        blocks += [Line(""), Line(items[0].effect)]
    rows: list[tuple[str, ...]] = []
    for item in items:
        for index, span in enumerate(item.spans):
            default = "(none)" if span.default is None else span.default or '""'
            since = f"{span.since}" + (
                " or earlier" if index == 0 and span.since == setting.oldest[item.component] else ""
            )
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
