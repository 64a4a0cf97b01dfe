"""Values that stand in one file and are used in another: keys of ConfigMaps, and variables of ``.env`` files.

A value counts where it is used, with the place where it stands; the file that it stands in configures nothing with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from eosctl.model.deployment import Place, Value
from eosctl.settings.files.environments import is_values_of_chart
from eosctl.settings.formats.tree import Branch, Leaf, Node
from eosctl.settings.platforms.ansible import is_variables_file
from eosctl.settings.values.sources import Source, value_of

_REFERENCE: Final = re.compile(r"\$\((?P<name>[^/()]+)/(?P<key>[^/()]+)\)")
ConfigMaps = Mapping[tuple[str, str], Value]
_WHOLE: Final = ".conf"
"""Files that others include and that are programs' own, too."""


def config_map_values(document: Node, file: str) -> dict[tuple[str, str], Value]:
    """Return the values of a ConfigMap by its name and their key, without blocks of text; nothing for others."""
    if not isinstance(document, Branch) or document.text("kind") != "ConfigMap":
        return {}
    name, data = document.text("metadata", "name") or "", document.branch("data") or Branch((), 1)
    return {
        (name, key): value_of(key, leaf, file)
        for key, leaf in data.entries
        if isinstance(leaf, Leaf) and leaf.text is not None and "\n" not in leaf.text
    }


def with_config_maps(sources: Iterable[Source], maps: Iterable[ConfigMaps]) -> list[Source]:
    """Return the sources with the values that variables take from keys of ConfigMaps.

    A key that two ConfigMaps of one name give different values, as environments do, stays unknown.
    """
    given = list(sources)
    known: dict[tuple[str, str], Value] = {}
    unlike: set[tuple[str, str]] = set()
    for one in maps:
        for key, value in one.items():
            if key in known and known[key].text != value.text:
                unlike.add(key)
            known[key] = value
    if not known:
        return given

    def filled(value: Value) -> Value:
        match = None if value.resolved or value.text is None else _REFERENCE.fullmatch(value.text)
        key = (match["name"], match["key"]) if match is not None else ("", "")
        found = known.get(key)
        if found is None or key in unlike:
            return value
        return replace(value, text=found.text, place=found.place, resolved=found.resolved)

    return [replace(one, values={name: filled(value) for name, value in one.values.items()}) for one in given]


def without_referred(sources: Iterable[Source]) -> list[Source]:
    """Leave out what a file configures with values that another file uses; all of them, in the values of a chart."""
    given = list(sources)
    used = {place for one in given for place in _places(one) if place.file != one.place.file}
    used = {place for place in used if not place.file.endswith(_WHOLE)}
    if not used:
        return given
    files = {place.file for place in used}

    def is_referred(one: Source) -> bool:
        places = _places(one)
        return places <= used if _is_of_chart(one) else not used.isdisjoint(places)

    return [one for one in given if one.place.file not in files or not is_referred(one)]


def _places(source: Source) -> set[Place]:
    return {value.place for value in source.values.values() if value.place is not None}


def without_variables_of_templates(sources: list[Source]) -> list[Source]:
    """Leave out variables of Ansible or a chart that a template has put into a file: both stand for one application.

    An environment's values of a chart stay, since templates are filled with the chart's own.
    """
    variables = [one for one in sources if is_variables_file(one.place.file) or _is_of_chart(one)]
    others = (one for one in sources if "templates" in one.place.file.split("/")) if variables else ()
    written = {name for one in others for name in _identity(one)}
    left_out = [one for one in variables if not written.isdisjoint(_identity(one))]
    return [one for one in sources if not any(one is other for other in left_out)]


def _is_of_chart(source: Source) -> bool:
    """Return whether all values are those of a chart's own values file."""
    files = {source.place.file, *(value.place.file for value in source.values.values() if value.place is not None)}
    return files == {source.place.file} and is_values_of_chart(source.place.file)


def _identity(source: Source) -> set[tuple[str, str]]:
    """Return the settings that name one application, member, or broker."""
    names = ("transactional.id", "group.instance.id", "application.id", "group.id", "node.id", "broker.id")
    return {(name, value.word) for name in names if (value := source.values.get(name)) is not None and value.word}
