"""The numeric inputs of a workload file, stated and assumed: their dotted paths, texts, and parsers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import yaml

from eosctl.capacity.quantities import QuantityError, parse_growth, parse_number, parse_share, split_quantity
from eosctl.capacity.range_value import is_numeric
from eosctl.capacity.workload_schema import (
    APPLICATION_KEYS,
    CLUSTER_KEYS,
    STORE_KEYS,
    TOPIC_KEYS,
    UNKNOWN,
    Key,
)
from eosctl.capacity.workload_tree import WRITTEN_BY, Path, find_value, list_paths
from eosctl.model.workload import Cleanup, Workload


class NumericInput(NamedTuple):
    """A number of a workload file; `text` is what the file states or what is assumed, or `unknown` or `auto`."""

    name: str
    path: Path
    text: str
    parse: Callable[[str], Any]


def list_numeric_inputs(root: yaml.Node | None, workload: Workload) -> Iterator[NumericInput]:
    """Yield each number that a plan of this file reads, and each that the file may state but does not."""
    assumed = {assumption.path: assumption.value for assumption in workload.assumptions}
    kinds = {application.name: application.kind for application in workload.applications}
    for name, path in list_paths(root):
        if WRITTEN_BY in path[2:]:
            continue
        key = _key(path)
        parse = parse_growth if path == ("growth_per_year",) else parse_number if key is None else key.parse
        text = find_value(root, path)
        if not is_numeric(parse):
            continue
        if path[0] == "applications" and key is not None and not key.applies_to(kinds[path[1]]):
            continue
        if text is None:
            text = UNKNOWN if key is not None and key.assumed == UNKNOWN else assumed.get(name)
        if text is not None:
            yield NumericInput(name, path, assumed.get(name, text) if text == UNKNOWN else text, parse)


def find_idle_keys(topics: Sequence[Mapping[str, Any]], applications: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the keys that no formula reads here; their defaults need not be listed as assumptions."""
    written = {name for values in applications for name, _ in values["writes"]}
    idle = {f"topics.{name}.writers" for name in written}
    for values in topics:
        idle |= {f"topics.{values['name']}.{name}" for name in unread_limits(values["cleanup"])}
    for values in applications:
        path = f"applications.{values['name']}"
        idle |= {f"{path}.{name}" for name, key in APPLICATION_KEYS.items() if not key.applies_to(values["kind"])}
        if not values["state_bytes"]:
            idle |= {f"applications.{values['name']}.{key}" for key in ("state", "restore_rate")}
    return idle


def unread_limits(cleanup: Cleanup) -> tuple[str, ...]:
    """Return the keys for the size of a topic that do not apply to a cleanup policy.

    Remote storage takes topics that are not compacted alone (KIP-405).
    """
    read = {"live": cleanup.compacts, "retention": cleanup.deletes, "local_retention": cleanup is Cleanup.DELETE}
    return tuple(name for name, applies in read.items() if not applies)


def _key(path: Path) -> Key | None:
    """Return the key at a path; None for the growth and for the partitions that a transaction writes."""
    match path:
        case ("cluster", name):
            return CLUSTER_KEYS[name]
        case ("topics", _, name):
            return TOPIC_KEYS[name]
        case ("applications", _, name):
            return APPLICATION_KEYS[name]
        case ("applications", _, "stores", _, name):
            return STORE_KEYS[name]
        case _:
            return None


def scale_input(given: NumericInput, factor: float) -> str:
    """Return the text of an input times a factor, in its unit; empty where its parser allows no other value.

    Counts are rounded and shares end at 100 %. What a parser refuses has no text.
    """
    number, unit = split_quantity(given.text)
    scaled = number * factor
    if given.parse is parse_share:
        scaled = min(scaled, 100.0 if unit else 1.0)
    for text in (f"{scaled:.12g} {unit}".strip(), f"{round(scaled):d} {unit}".strip()):
        try:
            value = given.parse(text)
        except QuantityError:
            continue
        return "" if value == given.parse(given.text) else text
    return ""
