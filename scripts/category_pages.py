"""The manual pages of log categories, generated from the catalog."""

from __future__ import annotations

from collections.abc import Sequence

from eosctl.model.log_category import LogCategory


def render_category_page(item: LogCategory) -> str:
    """Render one category as a page."""
    then = f"\n**Next:** {item.next_step}\n" if item.next_step else ""
    return (
        f"# {item.id}\n\n{item.meaning}\n\nWeight: {item.severity}.\n{then}\n"
        "A record is one of these when any of these patterns is found in it and no category before it fits:\n\n"
        f"{_block(item.patterns)}\n{_limits(item)}"
        f"In a terminal: `eosctl explain {item.id}`. [All categories](index.md)\n"
    )


def _limits(item: LogCategory) -> str:
    """Return the other conditions."""
    texts = []
    if item.levels:
        texts.append(f"Its level must be {' or '.join(item.levels)}.\n\n")
    if item.loggers_not:
        texts.append(f"Its logger must match none of these:\n\n{_block(item.loggers_not)}\n")
    if item.unless:
        texts.append(f"It must match none of these:\n\n{_block(item.unless)}\n")
    return "".join(texts)


def _block(patterns: Sequence[str]) -> str:
    return "".join(f"    {pattern}\n" for pattern in patterns)


def render_category_index(items: Sequence[LogCategory]) -> str:
    """Render the list of all categories, in matching order."""
    rows = "\n".join(f"| [{item.id}]({item.id}.md) | {item.severity} | {item.meaning} |" for item in items)
    return f"# Log categories\n\n| Category | Weight | Meaning |\n|---|---|---|\n{rows}\n"
