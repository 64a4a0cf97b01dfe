"""How many processes run with one configuration, by the description of the platform."""

from __future__ import annotations

from typing import Final

from eosctl.model.deployment import Component, Value

ONE_PER_NODE: Final = "one per node"


def runs_many(component: Component) -> bool:
    """Return whether two processes or more run with a configuration."""
    count = component.instances
    return count is not None and (count.text == ONE_PER_NODE or (count.number or 0) > 1)


def counted(component: Component) -> tuple[Value, ...]:
    """Return the setting that says how many processes there are; nothing where none does."""
    return () if component.instances is None else (component.instances,)


def processes(component: Component) -> str:
    """Write how many processes there are: ``4 processes``."""
    count = component.instances
    if count is None or count.number is None:
        return "processes of the nodes"
    return f"{count.number} processes"
