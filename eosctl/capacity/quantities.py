"""Parse quantities with units, as people write them in a workload file.

kB, MB, GB, TB are powers of 1,000; KiB, MiB, GiB, TiB of 1,024; network links are in bits (Gb/s). A number without a
unit is refused wherever a unit could be mistaken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

#: Separators only between groups of three digits: 10,5 means ten and a half to some readers, but never 105.
UNSIGNED_NUMBER: Final = (
    r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,3}(?:_[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?"
)
_NUMBER: Final = re.compile(rf"([+-]?{UNSIGNED_NUMBER})(?![\d.,_])\s*(.*)", re.ASCII)
#: Beyond this nothing is meant: an exabyte, a billion billion records, thirty million years.
LARGEST: Final = 1e18
LARGEST_COUNT: Final = 10_000_000
_BYTES: Final = {
    "B": 1.0,
    "kB": 1e3,
    "KB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "TB": 1e12,
    "PB": 1e15,
    "KiB": 2.0**10,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
    "TiB": 2.0**40,
}
_BYTE_RATES: Final = {
    **{f"{unit}/s": size for unit, size in _BYTES.items()},
    "kb/s": 125.0,
    "Mb/s": 125e3,
    "Gb/s": 125e6,
    "kbit/s": 125.0,
    "Mbit/s": 125e3,
    "Gbit/s": 125e6,
}
_DURATIONS_MS: Final = {
    "ms": 1.0,
    "s": 1e3,
    "min": 6e4,
    "m": 6e4,
    "h": 3.6e6,
    "d": 8.64e7,
    "days": 8.64e7,
    "w": 6.048e8,
    "weeks": 6.048e8,
    "years": 3.1536e10,
}
_RATES: Final = {"/s": 1.0, "/min": 1 / 60, "/h": 1 / 3600, "/d": 1 / 86_400}


class QuantityError(ValueError):
    """A text that is not the quantity that was expected; the message says what would be."""


@dataclass(frozen=True, eq=False)
class UnitParser:
    """Parse a number with a unit.

    Attributes:
        what: The quantity, for messages.
        units: The factor of each unit, to the base unit: bytes, milliseconds, or one a second.
        example: How to write it.
    """

    what: str
    units: Mapping[str, float]
    example: str

    def __call__(self, text: str) -> float:
        """Return the quantity in its base unit.

        Raises:
            QuantityError: It is not such a quantity, has no unit, is negative, or is too large.
        """
        number, unit = _split(text, self.what, self.example)
        if unit not in self.units:
            wrong = f"{unit!r} is not a unit of {self.what}" if unit else f"{text!r} has no unit"
            raise QuantityError(f"{wrong}; write it like {self.example} (units: {', '.join(self.units)})")
        return _positive(number * self.units[unit], text)


def _split(text: str, what: str, example: str) -> tuple[float, str]:
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise QuantityError(f"{text!r} is not a {what}; write it like {example}")
    return float(match[1].replace(",", "").replace("_", "")), match[2]


def _positive(value: float, text: str) -> float:
    if value < 0:
        raise QuantityError(f"{text} is negative")
    if not value <= LARGEST:
        raise QuantityError(f"{text} is too large")
    return value


parse_bytes = UnitParser("size", _BYTES, "1 KiB")
parse_byte_rate = UnitParser("byte rate", _BYTE_RATES, "250 MB/s")
parse_duration_ms = UnitParser("duration", _DURATIONS_MS, "100 ms")
parse_rate = UnitParser("rate", _RATES, "10000/s")


def split_quantity(text: str) -> tuple[float, str]:
    """Return the number of a quantity and its unit as written.

    >>> split_quantity("10,000/s"), split_quantity("1 KiB")
    ((10000.0, '/s'), (1.0, 'KiB'))
    """
    return _split(text, "quantity", "4")


def parse_share(text: str) -> float:
    """Parse a share: ``20 %`` or ``0.2``.

    >>> parse_share("20 %"), parse_share("0.2")
    (0.2, 0.2)
    """
    number, unit = _split(text, "share", "20 %")
    if unit not in ("", "%"):
        raise QuantityError(f"{unit!r} is not a unit of a share; write it like 20 % or 0.2")
    share = _positive(number / 100 if unit else number, text)
    if share > 1:
        raise QuantityError(f"{text} is more than all of it; write a share from 0 to 1, or from 0 % to 100 %")
    return share


def parse_growth(text: str) -> float:
    """Parse a growth: ``30 %`` or ``200 %``; a percent sign is needed.

    >>> parse_growth("200 %")
    2.0
    """
    number, unit = _split(text, "growth", "30 %")
    if unit != "%":
        raise QuantityError(f"{text!r} has no percent sign; write it like 30 %")
    return _positive(number / 100, text)


def parse_number(text: str) -> float:
    """Parse a number without a unit that is not negative."""
    number, unit = _split(text, "number", "4")
    if unit:
        raise QuantityError(f"{text!r} is not a plain number: write it without {unit!r}")
    return _positive(number, text)


def parse_count(text: str) -> int:
    """Parse a whole number from 1 on.

    >>> parse_count("2,000")
    2000
    """
    count = parse_whole(text)
    if count < 1:
        raise QuantityError(f"{text} is less than 1")
    if count > LARGEST_COUNT:
        raise QuantityError(f"{text} is more than the {LARGEST_COUNT:,} that can be planned with")
    return count


def parse_whole(text: str) -> int:
    """Parse a whole number from 0 on."""
    number = parse_number(text)
    if number != int(number):
        raise QuantityError(f"{text} is not a whole number")
    return int(number)


def parse_ratio(text: str) -> float:
    """Parse a compression ratio: at least 1, as in 4 times smaller."""
    ratio = parse_number(text)
    if ratio < 1:
        raise QuantityError(f"{text} is less than 1; the ratio is uncompressed over compressed, e.g. 4")
    return ratio
