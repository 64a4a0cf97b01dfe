"""How many processes run with one configuration, by the description of the platform."""

from __future__ import annotations

from typing import Final

from eosctl.model.deployment import Component, Value
from eosctl.model.placeholders import is_same_for_all

_WITHOUT_NUMBER: Final = {
    "one per node": "processes of the nodes",
    "one per instance": "instances of the unit",
    "as requests need": "processes that requests need",
    "one per core": "processes of the machine's cores",
    "one per round": "processes of the loop",
}
"""Counts without a number, and what the processes are called."""


def runs_many(component: Component) -> bool:
    """Return whether two processes or more run with a configuration."""
    count = component.instances
    return count is not None and (count.text in _WITHOUT_NUMBER or (count.number or 0) > 1)


def shared_text(value: Value) -> str:
    """Return the text that every process of a workload has; empty where it differs, or that is not known."""
    text = (value.text or "").strip()
    return text if value.resolved or (text and is_same_for_all(text)) else ""


def counted(component: Component) -> tuple[Value, ...]:
    """Return the setting that says how many processes there are; nothing where none does."""
    return () if component.instances is None else (component.instances,)


def processes(component: Component) -> str:
    """Write how many processes there are: ``4 processes``."""
    count = component.instances
    if count is None or count.number is None:
        return _WITHOUT_NUMBER.get((count.text if count else None) or "", "processes")
    return f"{count.number} processes"


def counted_at(component: Component) -> str:
    """Return a sentence with the place of the number of processes; empty where none is given."""
    places = (count.place for count in counted(component) if count.place)
    return "".join(f"{place} starts {processes(component)} with it." for place in places)
