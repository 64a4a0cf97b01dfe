"""Log records of a sandbox's nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eosctl.sandbox.logging.reading import LogRecord


def render_records(records: Sequence[LogRecord], *, named: bool) -> str:
    """Render records as the files have them; ``named`` puts the node in front of each."""
    width = max((len(record.node) for record in records), default=0)
    return "".join(f"{record.node:{width}}  {record.text}\n" if named else f"{record.text}\n" for record in records)
