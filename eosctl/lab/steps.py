"""Steps of scenarios and rehearsals: coroutines found by their names, and checked before anything is played."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, get_type_hints

import msgspec

from eosctl.errors import ConfigFileError, unknown_name

Doing = Callable[..., Awaitable[None]]


class StepRegistry(Mapping[str, Doing]):
    """The steps that modules define: their public coroutines, by name.

    Args:
        page: The page of the documentation that lists them.
        modules: Where they are.
    """

    def __init__(self, page: str, modules: Sequence[ModuleType]) -> None:
        self._page = page
        self._steps: dict[str, Doing] = {
            name: found
            for module in modules
            for name, found in vars(module).items()
            if inspect.iscoroutinefunction(found) and found.__module__ == module.__name__ and not name.startswith("_")
        }

    def __getitem__(self, name: str) -> Doing:
        return self._steps[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._steps)

    def __len__(self) -> int:
        return len(self._steps)

    def bind(self, words: Mapping[str, Any], *others: str) -> tuple[Doing, dict[str, Any]]:
        """Return the step that `do` names and its arguments, converted to what its signature takes.

        Args:
            words: A step as a file has it.
            others: Keys that are not arguments.

        Raises:
            UsageError: No step has this name.
            ConfigFileError: The step does not take these arguments.
        """
        name = str(words.get("do", ""))
        if name not in self._steps:
            raise unknown_name("step", name, self._steps, f"See {self._page}")
        doing = self._steps[name]
        given = {key: value for key, value in words.items() if key != "do" and key not in others}
        signature = inspect.signature(doing)
        try:
            signature.bind(None, **given)
            hints = get_type_hints(doing)
            return doing, {key: msgspec.convert(value, hints[key]) for key, value in given.items()}
        except (TypeError, msgspec.ValidationError) as error:
            raise ConfigFileError(
                f"The arguments of the step {name} are not valid.",
                f"{error}.",
                f"It takes: {', '.join(list(signature.parameters)[1:]) or 'nothing'}.",
            ) from error
