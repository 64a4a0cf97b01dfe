"""The steps by name, and the execution of a step."""

from __future__ import annotations

import inspect
from typing import Any, Final

import msgspec

from eosctl.errors import ConfigFileError
from eosctl.lab.rehearsals.place import HERE, Place, Places
from eosctl.lab.rehearsals.steps import cluster, groups, replicas, topics, transactions
from eosctl.lab.rehearsals.story import StepWords
from eosctl.lab.steps import Doing, bind_arguments, steps_of

STEPS: Final = steps_of(cluster, replicas, transactions, groups, topics)


async def do(places: Places, step: StepWords) -> None:
    """Run a step.

    Raises:
        ConfigFileError: The step is unknown, or its arguments are invalid.
        EosctlError: The cluster rejected the request.
    """
    doing, arguments = bind(step)
    first = next(iter(inspect.signature(doing).parameters.values()))
    target: Place | Places = places if first.name == "places" else places.named(str(step.get("in", HERE)))
    await doing(target, **arguments)


def bind(step: StepWords) -> tuple[Doing, dict[str, Any]]:
    """Return the function of a step and its arguments, validated by the function's signature.

    Raises:
        ConfigFileError: The step is unknown, or its arguments are invalid.
    """
    name = step.get("do", "")
    if name not in STEPS:
        raise ConfigFileError(
            f"There is no step {name!r}.",
            f"There are: {', '.join(sorted(STEPS))}.",
            "Name one of them after `do:`; they are told in docs/runbooks/rehearsals.md.",
        )
    doing = STEPS[str(name)]
    given = {key: value for key, value in step.items() if key not in ("do", "in")}
    try:
        return doing, bind_arguments(doing, given)
    except (TypeError, msgspec.ValidationError) as error:
        raise ConfigFileError(
            f"The step {name} cannot be done like this.",
            f"{error}.",
            f"It takes: {', '.join(list(inspect.signature(doing).parameters)[1:]) or 'nothing'}.",
        ) from error
