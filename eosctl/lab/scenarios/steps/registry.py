"""Steps by name, validated before a scenario starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from eosctl.errors import UsageError
from eosctl.lab.scenarios.releases import parse_range
from eosctl.lab.scenarios.steps import assertions, clients, faults, groups, streams
from eosctl.lab.scenarios.steps.judging import require_known
from eosctl.lab.steps import Doing, StepRegistry
from eosctl.sandbox.faults.order import parse_order
from eosctl.wire.error_codes import ErrorCode

STEPS: Final = StepRegistry("docs/sandbox/scenarios.md", (clients, faults, groups, streams, assertions))
ASSERTIONS: Final = frozenset(name for name, doing in STEPS.items() if doing.__module__ == assertions.__name__)


class BoundStep(NamedTuple):
    """A validated step.

    Attributes:
        name: Its name.
        doing: Its coroutine.
        arguments: Its arguments.
        refused: The allowed errors; one must occur, unless the set is empty: then the step must succeed.
    """

    name: str
    doing: Doing
    arguments: dict[str, Any]
    refused: frozenset[str]

    @property
    def is_assertion(self) -> bool:
        """Return whether it is an assertion."""
        return self.name in ASSERTIONS

    @property
    def actor(self) -> str:
        """Return who performs the step."""
        if self.is_assertion:
            return "reader"
        if "by" in self.arguments or self.name == "producer":
            return str(self.arguments.get("by") or self.arguments["name"])
        if self.doing.__module__ == groups.__name__:
            return str(self.arguments["member"])
        if self.doing.__module__ == streams.__name__:
            return str(self.arguments["application"])
        return "fault" if self.name in ("fault", "heal") else "time" if self.name == "advance" else "client"

    def __str__(self) -> str:
        shown = {key: value for key, value in self.arguments.items() if value != self.actor}
        if set(shown) == {"words"}:
            return str(shown["words"])
        return " ".join([self.name.replace("_", " "), *(f"{key}={_render(value)}" for key, value in shown.items())])


def _render(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value)) or "nothing"
    if isinstance(value, dict):
        return ",".join(f"{key}={each}" for key, each in value.items())
    return str(value)


def bind(words: Mapping[str, Any]) -> BoundStep:
    """Return a validated step.

    Raises:
        UsageError: The step or the name of an error is unknown.
        ConfigFileError: Its arguments are invalid.
    """
    doing, arguments = STEPS.bind(words, "refused", "releases")
    name = str(words["do"])
    if "releases" in words:
        parse_range(str(words["releases"]))
    if name == "fault" and "{" not in arguments["words"]:
        parse_order(arguments["words"])
    if name == "doctor":
        require_known([*(arguments.get("fire") or ()), *(arguments.get("silent") or ())])
    refused = words.get("refused", ())
    errors = frozenset((refused,) if isinstance(refused, str) else refused)
    unknown = errors - set(ErrorCode.__members__) - {"RequestTimedOut"}
    if unknown:
        raise UsageError(f"{min(unknown)} is not a Kafka error.", "Errors have Kafka's names.", "Fix the scenario.")
    return BoundStep(name, doing, arguments, errors)
