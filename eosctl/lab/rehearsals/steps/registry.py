"""The steps by name, and the execution of a step."""

from __future__ import annotations

import inspect
from typing import Final

from eosctl.lab.rehearsals.place import HERE, Place, Places
from eosctl.lab.rehearsals.rehearsal import StepWords
from eosctl.lab.rehearsals.steps import cluster, groups, replicas, topics, transactions
from eosctl.lab.steps import StepRegistry

STEPS: Final = StepRegistry("docs/runbooks/rehearsals.md", cluster, replicas, transactions, groups, topics)


async def do(places: Places, step: StepWords) -> None:
    """Run a step.

    Raises:
        UsageError: The step is unknown.
        ConfigFileError: Its arguments are invalid.
        EosctlError: The cluster rejected the request.
    """
    doing, arguments = STEPS.bind(step, "in")
    first = next(iter(inspect.signature(doing).parameters.values()))
    target: Place | Places = places if first.name == "places" else places.named(str(step.get("in", HERE)))
    await doing(target, **arguments)
