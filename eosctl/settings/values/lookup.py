"""Typed reading of given values."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from eosctl.errors import ConfigFileError
from eosctl.model.client_config import Given
from eosctl.model.secret import Secret
from eosctl.settings.values.references import resolve_references

Choice = TypeVar("Choice", bound=StrEnum)


class Lookup:
    """Reads settings by name, with references resolved and errors that name the origin."""

    def __init__(self, given: Mapping[str, Given], environment: Mapping[str, str]) -> None:
        self._given = given
        self._environment = environment

    def origin(self, name: str) -> str:
        """Return where the setting stands, or its name when it is not given."""
        given = self._given.get(name)
        return given.origin if given is not None else name

    def variable(self, name: str) -> str:
        """Return an environment variable, empty if it is not set."""
        return self._environment.get(name, "")

    def text(self, name: str) -> str | None:
        """Return the value without surrounding blanks, or None when it is not given."""
        given = self._given.get(name)
        return resolve_references(given, self._environment).strip() if given is not None else None

    def secret(self, name: str) -> Secret | None:
        """Return a value that must not be shown, blanks included."""
        given = self._given.get(name)
        return Secret(resolve_references(given, self._environment)) if given is not None else None

    def choice(self, name: str, choices: type[Choice], default: Choice) -> Choice:
        """Return one of several words (in any case, as Kafka takes ``security.protocol``)."""
        text = self.text(name)
        if text is None:
            return default
        try:
            return choices(text.upper())
        except ValueError:
            raise ConfigFileError(
                f"{self.origin(name)}: {name}={text} is not allowed.",
                f"It is one of {', '.join(choice.value for choice in choices)}.",
                "Correct the value.",
            ) from None

    def duration_ms(self, name: str) -> int | None:
        """Return a positive number of milliseconds, or None when it is not given."""
        text = self.text(name)
        if text is None:
            return None
        if not text.isascii() or not text.isdecimal() or int(text) == 0:
            raise ConfigFileError(
                f"{self.origin(name)}: {name}={text} is not a duration.",
                "A positive number of milliseconds is expected; every wait of eosctl ends.",
                "Correct the value.",
            )
        return int(text)
