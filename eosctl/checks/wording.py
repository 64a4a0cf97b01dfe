"""Lists of names that stay short on large clusters."""

from __future__ import annotations

from collections.abc import Sequence

NAMED = 8


def name_some(noun: str, names: Sequence[str], plural: str | None = None) -> str:
    """Name a few things and count the rest.

    >>> name_some("broker", ["1"]), name_some("broker", ["1", "2"])
    ('broker 1', 'brokers 1, 2')
    """
    shown = ", ".join(names[:NAMED])
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{noun if len(names) == 1 else plural or noun + 's'} {shown}{more}"
