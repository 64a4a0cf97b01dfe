"""A category of log records, for display."""

from __future__ import annotations

import msgspec


class LogCategory(msgspec.Struct, frozen=True):
    """A category of the catalog of log records.

    Attributes:
        id: The name.
        severity: How much it matters.
        meaning: What such a record means.
        next_step: What to inspect or do; empty for context.
        patterns: A record matches one of these,
        levels: has one of these levels, where any are named,
        loggers_not: comes from none of these loggers,
        unless: and says none of this.
    """

    id: str
    severity: str
    meaning: str
    next_step: str
    patterns: tuple[str, ...]
    levels: tuple[str, ...] = ()
    loggers_not: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
