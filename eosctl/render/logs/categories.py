"""The manual pages of log categories, generated from the catalogue."""

from __future__ import annotations

from collections.abc import Sequence

from eosctl.render.logs.report import CategoryItem


def render_category_page(item: CategoryItem) -> str:
    """Render one category as a page."""
    patterns = "\n".join(f"    {pattern}" for pattern in item.patterns)
    then = f"\n**Next:** {item.next_step}\n" if item.next_step else ""
    return (
        f"# {item.id}\n\n{item.meaning}\n\nWeight: {item.severity}.\n{then}\n"
        "A record is one of these when any of these patterns is found in it and no category before it fits:\n\n"
        f"{patterns}\n\n[All categories](index.md)\n"
    )


def render_category_index(items: Sequence[CategoryItem]) -> str:
    """Render the list of all categories, in the order in which they are tried."""
    rows = "\n".join(f"| [{item.id}]({item.id}.md) | {item.severity} | {item.meaning} |" for item in items)
    return f"# Log categories\n\n| Category | Weight | Meaning |\n|---|---|---|\n{rows}\n"
