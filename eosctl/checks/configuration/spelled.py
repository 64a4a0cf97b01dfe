"""Settings in remedies as the file spells them: with its own beginnings, and as its variables are called."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Final, NamedTuple

from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import TABULATED, Component, Role, Value, table_name
from eosctl.model.parameter import relaxed

_SETTING: Final = re.compile(
    r"(?<![\w.:-])(?:[a-z][a-z0-9]*(?:[._-][a-z0-9]+)*(?:\.[a-z0-9]+)+|acks(?==))(?![\w-]|\.\w)"
)
_OF_STREAMS: Final = ("producer.", "consumer.", "main.consumer.", "restore.consumer.", "topic.")


class Spelling(NamedTuple):
    """What a file's keys begin with, and how they write a setting's name."""

    prefix: str
    write: Callable[[str], str]


def _dotted(name: str) -> str:
    return name


def _variable(name: str) -> str:
    return name.upper().replace(".", "_")


def _snake(name: str) -> str:
    return name.replace(".", "_")


def _kebab(name: str) -> str:
    return name.replace(".", "-")


def _pascal(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("."))


def _camel(name: str) -> str:
    return name[0] + _pascal(name)[1:]


_STYLES: Final = (_dotted, _variable, _snake, _kebab, _pascal, _camel)


# Many remedies of one component need the same of all its keys. Components are compared by identity.
@lru_cache(maxsize=16)
def _keys(component: Component) -> frozenset[str]:
    return frozenset(value.key for value in component.given.values())


@lru_cache(maxsize=16)
def _spelling_without(component: Component, others: str) -> Spelling | None:
    return spelling_of({name: value for name, value in component.given.items() if others not in value.key.lower()})


def spelled(text: str, component: Component) -> str:
    """Return a remedy with the keys of a component's file in the place of Kafka's names for them.

    A setting that the file has keeps its key there. One that it does not have gets the beginning and the style of the
    others, where these agree.
    """
    keys = _keys(component)

    def key_of(match: re.Match[str]) -> str:
        name = match[0]
        if name in keys:
            return name
        given = component.given.get(name)
        if given is not None:
            return given.key
        return _new_key(name, component) if _is_own(name, component) else name

    return _SETTING.sub(key_of, text)


def _is_own(name: str, component: Component) -> bool:
    names = _names(table_name(component.role, component.client))
    if component.role is Role.STREAMS:
        head = next((head for head in _OF_STREAMS if name.startswith(head)), "")
        return name in names or bool(head)
    return name in names


@cache
def _names(table: str) -> frozenset[str]:
    found = load_tables().get(table)
    return frozenset() if found is None else frozenset(found.parameters)


def _new_key(name: str, component: Component) -> str:
    others = {Role.PRODUCER: "consumer", Role.CONSUMER: "producer"}.get(component.role, "\0")
    found = _spelling_without(component, others) if component.client in TABULATED else None
    if found is None:
        return name
    prefix = found.prefix
    is_springs = component.inside is Role.SPRING or relaxed(prefix).startswith("springkafka")
    if is_springs and found.write in (_kebab, _variable):
        # Spring has names of its own for a few settings, and takes all of them under "properties".
        prefix += "PROPERTIES_" if found.write is _variable else "properties."
        return prefix + (name if found.write is _kebab else found.write(name))
    return prefix + found.write(name)


def spelling_of(given: Mapping[str, Value]) -> Spelling | None:
    """Return how most settings of several words are spelled; None where no key shows that.

    >>> spelling_of({"group.id": Value("group.id", "a", "shop.kafka.group.id")}).prefix
    'shop.kafka.'
    """
    found = Counter(one for name, value in given.items() if (one := _spelling(name, value.key)) is not None)
    return found.most_common(1)[0][0] if found else None


def _spelling(name: str, key: str) -> Spelling | None:
    if "." not in name:
        return None
    for write in _STYLES:
        written = write(name)
        before = key[: -len(written)]
        if key.endswith(written) and (not before or not before[-1].isalnum()):
            return Spelling(before, write)
    return None
