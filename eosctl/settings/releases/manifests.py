"""Find the client library of an application, and its release, in the list of dependencies of its project."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice, takewhile
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from eosctl.errors import ConfigFileError
from eosctl.model.deployment import Client, Role
from eosctl.settings.files.file_texts import read_text
from eosctl.settings.frameworks.pipelines import TITLES
from eosctl.settings.names.client_family import client_of
from eosctl.settings.releases.build_files import BUILD_FILES, clients_release, is_build_file
from eosctl.settings.releases.library_releases import PINNED, library_release
from eosctl.settings.values.sources import Source

_MANIFESTS: Final = (
    *("requirements.txt", "pyproject.toml", "Pipfile", "setup.cfg", "package.json", "go.mod", "Cargo.toml", "Gemfile"),
    *("mix.exs", "composer.json"),
)
_PROJECT: Final = ".csproj"
_JAVA: Final = ("pom.xml", "build.gradle", "build.gradle.kts", "build.sbt")
_DECISIVE: Final = frozenset({*_MANIFESTS, *_JAVA, *BUILD_FILES})
_MOST_FOLDERS: Final = 2_000
"""Folders in which build files are searched where none is above a file."""
_OF_TOOLS: Final = frozenset({"node_modules", "target", "build", "vendor", "venv"})
_CATALOG: Final = "gradle/libs.versions.toml"
_OF_JAVA: Final = (Role.PRODUCER, Role.CONSUMER, Role.STREAMS, Role.SPRING)
_LIBRARY: Final = re.compile(
    r"confluent-kafka|confluent_kafka|Confluent\.Kafka|node-rdkafka|rdkafka|@confluentinc/kafka-javascript|aiokafka"
    r"|kafka-python|kafkajs|sarama|franz-go|kafka-go",
    re.IGNORECASE,
)
_SPELLED: Final = {"confluent.kafka": "confluent-kafka", "@confluentinc/kafka-javascript": "rdkafka"}


class Libraries:
    """The client libraries of projects and their releases, each list of dependencies read once.

    Args:
        paths: What the user named: no list of dependencies is searched for above it.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._paths = tuple(paths)
        self._places: dict[Path, tuple[Path, Path]] = {}
        self._lists: dict[tuple[Path, Path], tuple[str, ...]] = {}
        self._releases: dict[tuple[Path, Path], str] = {}
        self._everywhere: dict[Path, str] = {}
        self._names = cache(_names)

    def given_to(self, sources: Iterable[Source], file: Path) -> list[Source]:
        """Return sources with the client library of the project, where they are taken for clients of Java by default.

        Clients of Java have the release that the nearest build file names, or the only one that any build file of the
        project names, where their surroundings name none; clients of librdkafka and of Python the one that the list
        pins.

        Args:
            sources: What a file configures.
            file: The file.
        """
        place = self._place_of(file.parent)
        given = [self._of_library(one, place) if _is_java_by_default(one) else one for one in sources]
        given = [self._pinned(one, place) if _is_of_project(one) else one for one in given]
        return [self._of_release(one, place) if _is_of_java(one) else one for one in given]

    def _pinned(self, source: Source, place: tuple[Path, Path]) -> Source:
        release = library_release(source.client, self._lists_for(place))
        return source if release is None else replace(source, library_release=release)

    def _of_release(self, source: Source, place: tuple[Path, Path]) -> Source:
        if place not in self._releases:
            near = next(filter(None, _releases(*place, self._names)), "")
            self._releases[place] = near or self._elsewhere(place[1])
        release = self._releases[place]
        return replace(source, version=release) if release else source

    def _elsewhere(self, root: Path) -> str:
        """Return the one release that build files anywhere below a folder name; empty where none or several do."""
        if root not in self._everywhere:
            folders = _folders_below(root) if root in self._paths else ()
            found = {release for one in folders for release in _releases(one, one, self._names) if release}
            self._everywhere[root] = found.pop() if len(found) == 1 else ""
        return self._everywhere[root]

    def _place_of(self, folder: Path) -> tuple[Path, Path]:
        """Return a folder with the given one that it is in."""
        if folder not in self._places:
            above = (folder, *folder.parents)
            self._places[folder] = (folder, next((named for named in self._paths if named in above), folder))
        return self._places[folder]

    def _of_library(self, source: Source, place: tuple[Path, Path]) -> Source:
        found = {match.lower() for text in self._lists_for(place) for match in _LIBRARY.findall(text)}
        libraries = {_SPELLED.get(name, name) for name in found}
        if len(libraries) != 1:
            return source
        names = {name: value.key for name, value in source.values.items()}
        return replace(source, client=client_of(names, (*source.hints, *libraries)))

    def _lists_for(self, place: tuple[Path, Path]) -> tuple[str, ...]:
        if place not in self._lists:
            self._lists[place] = tuple(_dependencies(*place, self._names))
        return self._lists[place]


def _is_java_by_default(source: Source) -> bool:
    return source.role in (Role.PRODUCER, Role.CONSUMER) and source.client is Client.JAVA and not source.framework


def _is_of_project(source: Source) -> bool:
    """Return whether a client is a program's of the project, and not that of a tool such as Vector."""
    return source.client in PINNED and TITLES.isdisjoint(source.hints)


def _is_of_java(source: Source) -> bool:
    return source.role in _OF_JAVA and source.client in (None, Client.JAVA) and not source.version


def _folders(folder: Path, root: Path) -> Iterator[Path]:
    """Yield a folder and those above it, to the root."""
    return takewhile(lambda one: one == root or root in one.parents, (folder, *folder.parents))


def _releases(folder: Path, root: Path, names_in: Callable[[Path], frozenset[str]]) -> Iterator[str]:
    """Yield the release that the build files of each folder name, the nearest folder first."""
    for one in _folders(folder, root):
        names = names_in(one)
        found = [one / name for name in sorted(names, key=_order) if is_build_file(name)]
        if found:
            yield clients_release(map(_text, (*found, *(path for path in (one / _CATALOG,) if path.is_file()))))


def _folders_below(root: Path) -> Iterator[Path]:
    """Yield a folder and those below it, without what tools put there."""
    for folder, inner, _ in islice(os.walk(root), _MOST_FOLDERS):
        inner[:] = sorted(one for one in inner if not one.startswith(".") and one not in _OF_TOOLS)
        yield Path(folder)


def _order(name: str) -> tuple[int, str]:
    return BUILD_FILES.index(name) if name in BUILD_FILES else len(BUILD_FILES), name


def _dependencies(folder: Path, root: Path, names_in: Callable[[Path], frozenset[str]]) -> Iterator[str]:
    """Yield the texts of the nearest lists of dependencies; nothing in a project that has Java code, too."""
    for place in _folders(folder, root):
        names = names_in(place)
        found = [place / name for name in _MANIFESTS if name in names]
        found += [place / name for name in islice(sorted(one for one in names if one.endswith(_PROJECT)), 3)]
        if found or not names.isdisjoint(_JAVA):
            yield from map(_text, found if names.isdisjoint(_JAVA) else ())
            return


def _names(folder: Path) -> frozenset[str]:
    """Return the names of a folder's lists of dependencies, and of its files of projects."""
    try:
        with os.scandir(folder) as entries:
            wanted = (
                one
                for one in entries
                if one.name in _DECISIVE or one.name.endswith(_PROJECT) or is_build_file(one.name)
            )
            return frozenset(one.name for one in wanted if one.is_file())
    except OSError:
        return frozenset()  # a folder that is gone or closed has none to read


def _text(path: Path) -> str:
    try:
        return read_text(path)
    except ConfigFileError:
        return ""
