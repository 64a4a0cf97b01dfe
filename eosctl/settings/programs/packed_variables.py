"""Variables that hold several settings, or a path to one: ``SPRING_APPLICATION_JSON``, .NET's ``Kafka__Acks``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from eosctl.model.deployment import Place
from eosctl.settings.formats.tree import Leaf
from eosctl.settings.names.setting_names import is_setting
from eosctl.settings.names.spellings import respelled, setting_of_letters
from eosctl.settings.values.sources import Source, value_of

_SPRING: Final = ("SPRING_APPLICATION_JSON", "spring.application.json")
_DOTNET: Final = "__"
_FILE_OF_DOTNET: Final = "appsettings.json"


def unpacked(pairs: Iterable[tuple[str, Leaf]]) -> list[tuple[str, Leaf]]:
    """Return variables with the settings of Spring's JSON in its place, which go before variables.

    >>> unpacked([("SPRING_APPLICATION_JSON", Leaf('{"spring": {"kafka": {"client-id": "a"}}}', 3))])
    [('spring.kafka.client-id', Leaf(text='a', line=3, file=''))]
    """
    given = list(pairs)
    packed = [(key, leaf) for key, leaf in given if key in _SPRING and leaf.text]
    return [*(pair for pair in given if pair not in packed), *(one for _, leaf in packed for one in _settings(leaf))]


def _settings(leaf: Leaf) -> Iterator[tuple[str, Leaf]]:
    try:
        values: object = json.loads(leaf.text or "")
    except (ValueError, RecursionError):
        values = {}  # a template, or a mistake that the application reports
    yield from _flat(values, "", leaf)


def _flat(value: object, path: str, leaf: Leaf) -> Iterator[tuple[str, Leaf]]:
    if isinstance(value, dict):
        for key, child in value.items():
            yield from _flat(child, f"{path}.{key}" if path else str(key), leaf)
    elif path:
        text = value if isinstance(value, str) else None if value is None else json.dumps(value)
        yield path, replace(leaf, text=text)


def _camel(option: str) -> str:
    """Return an option in capitals as the file spells it: ``TransactionalId`` for ``TRANSACTIONALID``."""
    name = setting_of_letters(option) if option.isupper() else None
    return option if name is None else "".join(part.capitalize() for part in name.split("."))


def dotnet_sources(pairs: Iterable[tuple[str, Leaf]], name: str, file: str) -> list[Source]:
    """Return the clients that variables configure as a path into ``appsettings.json``: ``Kafka__Producer__Acks``.

    .NET ignores case. In capitals, a variable with single underscores too is one of an image: ``KAFKA_LOG__DIR``.
    """
    sections: dict[str, list[tuple[str, Leaf]]] = {}
    for key, leaf in pairs:
        section, _, option = key.rpartition(_DOTNET)
        if section and (key.upper() != key or "_" not in key.replace(_DOTNET, "")):
            sections.setdefault(section, []).append((option, leaf))
    found: list[Source] = []
    for section, options in sections.items():
        words = tuple(word.lower() for word in section.split(_DOTNET))
        names = {_camel(option): option for option, _ in options}
        spelled = respelled(((_camel(option), leaf) for option, leaf in options), _FILE_OF_DOTNET, words)
        if any(setting != option and is_setting(setting) for setting, option, _ in spelled):
            values = {
                setting: value_of(f"{section}{_DOTNET}{names[option]}", leaf, file, setting)
                for setting, option, leaf in spelled
            }
            hints = (_FILE_OF_DOTNET, *words)
            found.append(Source(Place(file, options[0][1].line), values, name, hints=hints))
    return found
