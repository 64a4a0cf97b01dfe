"""Settings as Kafka's releases declare them: type, default by release, bounds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import msgspec

Release = tuple[int, int]
"""Major and minor number, e.g. ``(3, 9)``."""


class Span(msgspec.Struct, frozen=True):
    """What holds from one release on, until the next span.

    `bounds` is the declaring program's own notation; `absent` means that these releases lack the setting.
    """

    since: Release
    default: str | None
    bounds: str = ""
    required: bool = False
    absent: bool = False


class Parameter(msgspec.Struct, frozen=True):
    """One setting of one component.

    Attributes:
        name: As the component spells it.
        type: `int`, `long`, `short`, `double`, `boolean`, `string`, `list`, `class`, `password`.
        spans: Oldest first, never empty.
        removed: The first release without it.
        alias: The name that it is another name of.
        only: `producer` or `consumer` where one table serves both.
    """

    name: str
    type: str
    spans: tuple[Span, ...]
    removed: Release | None = None
    alias: str = ""
    only: str = ""

    def at(self, release: Release) -> Span | None:
        """Return what holds in a release; None if the setting is not there yet, or no longer."""
        if self.removed is not None and release >= self.removed:
            return None
        span = next((span for span in reversed(self.spans) if span.since <= release), None)
        return None if span is None or span.absent else span


class ParameterTable(msgspec.Struct, frozen=True):
    """All settings of one component; `first` and `last` are the releases that the table was made from.

    `software` is whose releases these are. Frameworks count releases of their own, which say nothing about Kafka's.
    """

    component: str
    first: Release
    last: Release
    parameters: Mapping[str, Parameter] = msgspec.field(default_factory=dict)
    aliases: Mapping[str, str] = msgspec.field(default_factory=dict)
    software: str = "Kafka"

    def declared(self, name: str) -> Parameter | None:
        """Return a setting by its name, or by any spelling that Spring Boot takes for it."""
        return self.parameters.get(name) or self.parameters.get(self.aliases.get(relaxed(name), ""))

    def defaults(self, release: Release) -> dict[str, str | None]:
        """Return every default of a release, by name; releases outside the table count as its nearest one."""
        near = min(max(release, self.first), self.last)
        return {
            name: span.default
            for name, parameter in self.parameters.items()
            if not parameter.alias and (span := parameter.at(near)) is not None
        }


@lru_cache(maxsize=65_536)
def relaxed(name: str) -> str:
    """Return what Spring Boot compares of a property's name: letters and digits in lower case.

    >>> relaxed("producer.transaction-id-prefix") == relaxed("PRODUCER_TRANSACTIONIDPREFIX")
    True
    """
    return "".join(letter for letter in name.lower() if letter.isalnum())
