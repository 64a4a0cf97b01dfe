"""Lay the file of an environment over the one that holds everywhere, as frameworks do.

Sources: Spring Boot's profiles (``application-prod.yml``), the same of Micronaut and Quarkus, .NET's
``appsettings.Production.json``, node-config's ``config/production.json``, Helm's ``values-prod.yaml``.
Programs with files of their own have ``streams-common.properties`` below those of environments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.errors import ConfigFileError
from eosctl.model.deployment import Role, Value
from eosctl.model.parameter import relaxed
from eosctl.settings.files.documents import parse_documents
from eosctl.settings.files.file_texts import holds_kafka, read_text
from eosctl.settings.formats.tree import Branch, Node, flatten
from eosctl.settings.formats.tree_patches import overlaid
from eosctl.settings.names.client_libraries import with_options_joined
from eosctl.settings.names.setting_names import known_names
from eosctl.settings.values.sources import Source

_ON_PROFILE: Final = ("on-profile", "spring.profiles")


class _Layers(NamedTuple):
    """Which files are those of environments, and below which of their folder they are laid.

    ``near`` is a file that must be there, too, ``folder`` their folder. The keys of ``dotted`` files are nested or not.
    """

    environment: re.Pattern[str]
    bases: tuple[str, ...]
    near: str = ""
    folder: str = ""
    dotted: bool = False


_CHART: Final = "Chart.yaml"
_LAYERS: Final = (
    _Layers(re.compile(r"^values[-._][\w.-]+\.ya?ml$"), ("values.yaml",), _CHART),
    _Layers(
        re.compile(r"^application-[\w.-]+\.(?:ya?ml|properties)$"),
        ("application.yml", "application.yaml", "application.properties"),
        dotted=True,
    ),
    _Layers(re.compile(r"^appsettings\.[\w.-]+\.json$"), ("appsettings.json",)),
    _Layers(
        re.compile(r"^[\w-]+\.(?:json5?|ya?ml)$"), ("default.json", "default.yaml", "default.yml"), folder="config"
    ),
)


_APPSETTINGS: Final = next(one for one in _LAYERS if one.bases == ("appsettings.json",))
_SPRINGS: Final = next(one for one in _LAYERS if one.dotted)
_ENVIRONMENTS: Final = (
    "prod|production|preprod|live|stage|staging|stg|uat|qa|test|int|integration|perf|dev"
    "|development|local|docker|k8s|kubernetes|cloud|sandbox|demo|ci"
)
_OF_APPLICATION: Final = re.compile(rf"(?P<name>[\w.]+(?:-[\w.]+)*)-(?:{_ENVIRONMENTS})\.(?:ya?ml|properties)")
"""What Spring's configuration server calls the files of one application: its name and a profile."""


_COMMON: Final = ("common", "base", "default", "defaults", "shared")
"""What programs call the file below those of environments."""
_OF_PROGRAM: Final = re.compile(
    r"(?:(?P<name>[\w.-]+?)(?P<mark>[-._]))??"
    rf"(?:{_ENVIRONMENTS})(?P<ending>\.(?:ya?ml|properties|json5?|toml))"
)
"""What programs call the file of an environment: ``streams-prod.properties``, ``config.prod.yaml``, ``prod.toml``."""
_IDS: Final = ("applicationid", "groupid", "transactionalid", "consumergroup")
"""How the keys end that name a program of Kafka: an environment's file without one of the common file is a part."""
_OF_OTHERS: Final = frozenset({"apiVersion", "kind", "services", "resource", "connector.class", "config"})
"""What stands in resources and descriptions of other tools, which have layers of their own, and in connectors."""


def is_values_of_chart(file: str) -> bool:
    """Return whether a file has the default values of a chart."""
    return file.rpartition("/")[2] == "values.yaml" and (Path(file).parent / _CHART).is_file()


def over_base(documents: Sequence[Node], file: str) -> tuple[str, tuple[Node, ...]]:
    """Return the file below an environment's one, and its values with those of the environment over them.

    A file that is not one of an environment, or has nothing about Kafka, is returned as it is.
    """
    name = file.rpartition("/")[2]
    layers = next((one for one in _LAYERS if one.environment.match(name)), None)
    path = Path(file)
    base = None if layers is None else _base_of(layers, path)
    if base is None and (base := _base_of_config_server(path, documents)) is not None:
        layers = _SPRINGS
    if base is None and (base := _common_of(path, documents)) is not None:
        layers = _SPRINGS if base.suffix == ".properties" else _APPSETTINGS
    if layers is None or base is None or not all(isinstance(document, Branch) for document in documents):
        return file, tuple(documents)
    try:
        parsed = parse_documents(str(base), read_text(base))
    except ConfigFileError:
        return file, tuple(documents)  # reported where the file itself is read
    read = [_dotted(one) if layers.dotted else one for one in (*parsed, *documents)]
    own = [one for one in read[: len(parsed)] if isinstance(one, Branch) and not _is_of_profile(one)]
    if not own:
        return file, tuple(documents)
    below: Node = own[0]
    for document in own[1:]:
        below = overlaid(below, document, str(base))
    return str(base), tuple(with_options_joined(overlaid(below, one, file)) for one in read[len(parsed) :])


def of_environment(source: Source, file: str) -> Source:
    """Return a source with the file or the profile that it holds for, apart from the other environments."""
    name = Path(file).name
    application = source.label if source.application is None else source.application
    shown = f"{source.recognized_by} with {name}".strip()
    # The label of a topic is its name.
    label = source.label if source.role is Role.TOPIC else f"{source.label} with {name}".strip()
    return replace(source, label=label, application=application, recognized_by=shown, environment=name)


def with_environments(sources: list[Source], others: Iterable[tuple[str, list[Source]]]) -> list[Source]:
    """Return sources, those whose values environments decide once for each of these environments in their place.

    Args:
        sources: What a file configures where no environment is chosen.
        others: Files of environments, and what the file configures there.
    """
    found = [
        of_environment(one, file)
        for file, own in others
        for one in own
        if all(one.values != base.values for base in sources)
    ]
    places = {one.place for one in found}
    return [*(one for one in sources if one.place not in places), *found]


def _base_of(layers: _Layers, path: Path) -> Path | None:
    """Return the file below one of an environment."""
    if (layers.folder and path.parent.name != layers.folder) or not (path.parent / layers.near).exists():
        return None
    is_of_chart = layers.near == _CHART  # its values need not name Kafka: they count processes, too
    if path.name in layers.bases or not (is_of_chart or holds_kafka(path)):
        return None
    return next((base for name in layers.bases if (base := path.parent / name).is_file()), None)


def laid_over(values: Mapping[str, Value], others: Mapping[str, Value]) -> dict[str, Value]:
    """Return values with others over them: Spring takes a name in any of its spellings for the same one."""
    taken = {relaxed(name) for name in others}
    return {name: value for name, value in values.items() if relaxed(name) not in taken} | dict(others)


def with_profiles(sources: list[Source]) -> list[Source]:
    """Lay the documents of a Spring file that hold for a profile over the one that always holds."""
    base = next((source for source in sources if source.role is Role.SPRING), None)
    if base is None:
        return sources
    return [
        of_environment(replace(source, values=laid_over(base.values, source.values)), profile)
        if source.role is Role.SPRING and (profile := profile_of(source.values))
        else source
        for source in sources
    ]


def _base_of_config_server(path: Path, documents: Sequence[Node]) -> Path | None:
    """Return ``pay.yml`` for ``pay-prod.yml`` where both are files of Spring, as its configuration server has them."""
    found = _OF_APPLICATION.fullmatch(path.name)
    if found is None or not any(map(_is_springs, documents)):
        return None
    bases = (path.parent / f"{found['name']}{ending}" for ending in (".yml", ".yaml", ".properties"))
    base = next((one for one in bases if one.is_file()), None)
    return base if base is not None and holds_kafka(base) and any(map(_is_springs, _parsed(base))) else None


def _common_of(path: Path, documents: Sequence[Node]) -> Path | None:
    """Return ``streams-common.properties`` for ``streams-prod.properties``, which a program reads one over the other.

    A file without such a word is below that of an environment where this one lacks an id that the other has, or most
    keys of one without ids.
    """
    found = _OF_PROGRAM.fullmatch(path.name)
    if found is None or found["name"] == "application" or any(map(_is_of_others, documents)):
        return None
    name, ending = found["name"], found["ending"]
    bases = (f"{name}{found['mark']}{word}" if name else word for word in _COMMON)
    if (
        common := next((base for one in bases if (base := path.parent / f"{one}{ending}").is_file()), None)
    ) is not None:
        return common if holds_kafka(common) and _has_settings(path, documents) else None
    plain = path.parent / f"{name}{ending}"
    if not name or not plain.is_file() or not holds_kafka(plain) or not _has_settings(path, documents):
        return None
    return plain if _is_part(_keys_in(documents), _keys_in(_parsed(plain))) else None


def _has_settings(path: Path, documents: Sequence[Node]) -> bool:
    return holds_kafka(path) or any(key in known_names() and "." in key for key in _keys_in(documents))


def _is_of_others(document: Node) -> bool:
    return isinstance(document, Branch) and not _OF_OTHERS.isdisjoint(dict(document.entries))


def _is_part(own: set[str], base: set[str]) -> bool:
    """Return whether an environment's file has a part of what the file below it has, by their keys."""
    ids = {key for key in base if relaxed(key).endswith(_IDS)}
    return bool(ids - own) if ids else 2 * len(own & base) < len(base)


def _keys_in(documents: Sequence[Node]) -> set[str]:
    return {key for one in documents if isinstance(one, Branch) for key, _ in flatten(one)}


def _parsed(path: Path) -> tuple[Node, ...]:
    try:
        return parse_documents(str(path), read_text(path))
    except ConfigFileError:
        return ()  # reported where the file itself is read


def _is_springs(document: Node) -> bool:
    return isinstance(document, Branch) and any(key.partition(".")[0] == "spring" for key, _ in document.entries)


def profile_of(values: Mapping[str, Value]) -> str:
    """Return the profile that a document of a Spring file holds for, as 2.4 and later or as 2.3 spells it; or empty."""
    return next((f"profile {value.text}" for key, value in values.items() if key.endswith(_ON_PROFILE)), "")


def _is_of_profile(document: Branch) -> bool:
    """Return whether a document of a Spring file holds for a profile alone."""
    return any(key.endswith(_ON_PROFILE) for key, _ in flatten(document))


def _dotted(node: Node) -> Node:
    """Return a mapping with each key in one."""
    return Branch(tuple(flatten(node)), node.line)
