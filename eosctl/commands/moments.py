"""Moments on the command line: absolute, or as far back as said."""

from __future__ import annotations

from datetime import UTC, datetime

import typer

from eosctl.commands.options import parse_duration_ms
from eosctl.errors import UsageError


def parse_moment_ms(text: str | None, option: str, now_ms: int) -> int | None:
    """Parse ``2026-11-21T09:00:00Z``, milliseconds since the epoch, ``now`` or ``-30m`` (``@-30m``).

    Args:
        text: What was typed; None stays None.
        option: For the error.
        now_ms: What ``now`` means.

    Raises:
        UsageError: It is none of these.
    """
    if text is None:
        return None
    word = text.strip().removeprefix("@")
    try:
        if word == "now":
            return now_ms
        if word.startswith("-"):
            return now_ms - parse_duration_ms(word[1:])
        if word.isdigit():
            return int(word)
        moment = datetime.fromisoformat(word)
        return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError, typer.BadParameter):
        raise UsageError(
            f"{text!r} is no moment for {option}.", "", f"Write {option}=-30m, or {option} 2026-11-21T09:00:00Z"
        ) from None
