"""A value of a workload file that is a guess: ``{low: 5000/s, likely: 10000/s, high: 30000/s}``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import yaml

from eosctl.capacity.quantities import QuantityError
from eosctl.capacity.release_parser import Release
from eosctl.capacity.workload_schema import Choice, parse_transaction_version, parse_yes_or_no

LOW, LIKELY, HIGH = BOUNDS = ("low", "likely", "high")
_WITHOUT_SIZE: Final = frozenset({parse_yes_or_no, parse_transaction_version})


class RangeText(NamedTuple):
    """The three texts of a range, as the file has them."""

    low: str
    likely: str
    high: str


class RangeMistake(NamedTuple):
    """A part of a range that is wrong, and why."""

    node: yaml.Node
    what: str


def is_numeric(parse: Callable[[str], Any]) -> bool:
    """Return whether values of a key have a size, so that they can be halved, doubled, and given as a range."""
    return parse not in _WITHOUT_SIZE and not isinstance(parse, Choice | Release)


def split_range(node: yaml.Node | None) -> RangeText | None:
    """Return the texts of a complete range; None for any other value."""
    if not isinstance(node, yaml.MappingNode):
        return None
    parts = {key.value: str(value.value).strip() for key, value in node.value if isinstance(value, yaml.ScalarNode)}
    return RangeText(*(parts[bound] for bound in BOUNDS)) if set(parts) == set(BOUNDS) else None


def read_range(node: yaml.Node, parse: Callable[[str], Any]) -> RangeText | RangeMistake:
    """Return the texts of a range, or what is wrong with it."""
    texts = split_range(node)
    if texts is None or len(node.value) != len(BOUNDS):
        return RangeMistake(node, "a range has low, likely, and high, each a single value")
    try:
        values = [parse(text) for text in texts]
    except QuantityError as error:
        return RangeMistake(node, str(error))
    if values != sorted(values):
        return RangeMistake(node, f"{texts.low}, {texts.likely}, {texts.high} do not go from low over likely to high")
    return texts
