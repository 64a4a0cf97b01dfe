"""Values that options have as text: durations, times, addresses, ranges, partitions, and roles."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import typer

from eosctl.errors import UsageError
from eosctl.model.deployment import Role
from eosctl.model.log_bounds import EVERYTHING, Bounds
from eosctl.model.transaction import TopicPartition

_MOST: Final = 2**63 - 1
"""Kafka's times, offsets, and ids are longs of Java."""

_MOST_PARTITION: Final = 2**31 - 1
_MOST_PORT: Final = 65535

_UNITS_MS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}


def parse_duration_ms(text: str) -> int:
    """Parse ``500ms``, ``30s``, ``15m``, ``2h``, or ``7d``; a bare number is seconds."""
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    unit = text[len(digits) :] or "s"
    count = _parse_long(digits)
    if not count or unit not in _UNITS_MS or count > _MOST // _UNITS_MS[unit]:
        raise typer.BadParameter(f"{text!r} is not a duration; write 500ms, 30s, 15m, 2h, or 7d")
    return count * _UNITS_MS[unit]


def _parse_long(digits: str) -> int | None:
    """Return a number without a sign; None if the text is none, or exceeds a long.

    The length is checked first: Python refuses to convert thousands of digits, with a text of its own.
    """
    if not digits.isdecimal() or len(digits) > len(str(_MOST)):
        return None
    number = int(digits)
    return number if number <= _MOST else None


def duration_option_text(duration_ms: int) -> str:
    """Return a duration as `parse_duration_ms` reads it, in whole seconds where possible."""
    return f"{duration_ms}ms" if duration_ms % 1_000 else f"{duration_ms // 1_000}s"


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
        return _epoch_ms(word)
    except (ValueError, OverflowError, typer.BadParameter):
        raise UsageError(
            f"{text!r} is not a time for {option}.", "", f"Write {option}=-30m, or {option} 2026-11-21T09:00:00Z"
        ) from None


def parse_log_position(text: str | None, now_ms: int) -> tuple[int | None, int | None]:
    """Parse ``OFFSET`` or ``@TIME``; return the offset and the time in ms; at least one is None.

    Raises:
        UsageError: It is neither.
    """
    if text is None:
        return None, None
    if text.startswith("@"):
        return None, parse_moment_ms(text, "--from", now_ms)
    offset = _parse_long(text)
    if offset is None:
        raise UsageError(
            f"{text!r} is not a start of a range.", "", "Write --from 1200, --from @-1h or --from @2026-11-21T09:00:00Z"
        )
    return offset, None


def parse_listen(text: str) -> tuple[str, int]:
    """Parse ``HOST:PORT``; an IPv6 address stands in brackets. With port 0, the system chooses one.

    Raises:
        UsageError: It is none.
    """
    host, _, port = text.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    number = _parse_long(port)
    if not bare or (":" in bare) != host.startswith("[") or number is None or number > _MOST_PORT:
        raise UsageError(f"{text!r} is not an address to listen on.", "", "Write HOST:PORT, e.g. 127.0.0.1:9308.")
    return bare, number


def parse_partition(text: str | None) -> TopicPartition | None:
    """Parse ``TOPIC-PARTITION``; None stays None.

    Raises:
        UsageError: It is not a partition.
    """
    if text is None:
        return None
    topic, dash, index = text.rpartition("-")
    partition = _parse_long(index)
    if not dash or not topic or partition is None or partition > _MOST_PARTITION:
        raise UsageError(f"{text!r} is not a partition.", "", "Write TOPIC-PARTITION, e.g. orders-0.")
    return TopicPartition(topic, partition)


def parse_roles(given: Sequence[str]) -> dict[str, Role]:
    """Parse ``FILE=ROLE`` words.

    Raises:
        UsageError: One of them is none, or has an unknown role.
    """
    roles: dict[str, Role] = {}
    for text in given:
        file, equals, word = text.rpartition("=")
        if not equals or word not in set(Role):
            names = ", ".join(role.value for role in Role)
            raise UsageError(f"--role {text} is not FILE=ROLE.", f"Roles: {names}.", "E.g. --role app.conf=producer")
        roles[file] = Role(word)
    return roles


def parse_bounds(text: str | None, option: str) -> Bounds:
    """Parse ``A:B``, ``A:`` or ``:B``; a bare number is both ends.

    Raises:
        UsageError: The text is none of these.
    """
    if text is None:
        return EVERYTHING
    first, colon, last = text.partition(":")
    try:
        low = int(first) if first else None
        high = (int(last) if last else None) if colon else low
    except ValueError:
        raise UsageError(
            f"{text!r} is not a range of {option}.", "", f"Write {option} 100:200, 100: or :200."
        ) from None
    return Bounds(low, high)


def parse_times(text: str | None) -> Bounds:
    """Parse a range of times: milliseconds ``A:B``, or RFC 3339 times ``A..B`` (UTC unless they say otherwise).

    Raises:
        UsageError: The text is neither.
    """
    if text is None or ".." not in text:
        return parse_bounds(text, "--time")
    first, _, last = text.partition("..")
    try:
        return Bounds(_optional_ms(first), _optional_ms(last))
    except ValueError:
        example = "--time 2026-11-21T09:00:00Z..2026-11-21T10:00:00Z"
        raise UsageError(f"{text!r} is not a time range.", "", f"Write {example}") from None


def _optional_ms(text: str) -> int | None:
    return _epoch_ms(text.strip()) if text.strip() else None


def _epoch_ms(text: str) -> int:
    moment = datetime.fromisoformat(text)
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
