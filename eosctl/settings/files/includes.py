"""Find what a file includes from elsewhere, which no rule judges if it is not among the given files."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from eosctl.model.deployment import Place
from eosctl.model.unjudged import Unseen


class _Include(NamedTuple):
    """How a format names what it includes: in files of this name, by lines of this form."""

    files: re.Pattern[str]
    line: re.Pattern[str]


_YAML: Final = re.compile(r"\.ya?ml$")
_SPRING: Final = re.compile(r"(?:^|/)(?:application|bootstrap)[\w.-]*\.(?:ya?ml|properties)$")
_COMPOSE: Final = re.compile(r"(?:^|/)(?:docker-)?compose[\w.-]*\.ya?ml$")
_INCLUDES: Final = (
    # HOCON: include "common", include required(file("common.conf")).
    _Include(re.compile(r"\.conf$"), re.compile(r'^[ \t]*include[ \t]+(?:\w+\()*"([^"\n]+)"', re.MULTILINE)),
    # Fluent Bit.
    _Include(re.compile(r"\.conf$"), re.compile(r"^[ \t]*@INCLUDE[ \t]+(\S+)", re.MULTILINE)),
    # Spring Boot: imports of other files, of a server of configurations, and of Kubernetes.
    _Include(_SPRING, re.compile(r"^[ \t]*spring\.config\.import(?:\[\d+\])?[ \t]*[=:][ \t]*(\S.*)$", re.MULTILINE)),
    _Include(_SPRING, re.compile(r"^[ \t]+import:[ \t]*(\S.*)$", re.MULTILINE)),
    # Compose: extends: {file: base.yml}.
    _Include(
        _COMPOSE,
        re.compile(
            r"^[ \t]+extends:[ \t]*(?:\{[^}\n]*?|\n(?:[ \t]+\w+:[^\n]*\n)*?[ \t]+)file:[ \t]*([^\s,}]+)", re.MULTILINE
        ),
    ),
    # Compose: env_file: .env, a list of files, or of mappings with path.
    _Include(_COMPOSE, re.compile(r"^[ \t]+env_file:[ \t]*(\S[^\n]*)", re.MULTILINE)),
    _Include(
        _COMPOSE,
        re.compile(r"^[ \t]+env_file:[ \t]*\n((?:[ \t]+(?:-|path:|required:|format:)[^\n]*(?:\n|\Z))+)", re.MULTILINE),
    ),
)
_SEPARATOR: Final = re.compile(r"[,\n]")
_MEMBER: Final = re.compile(r"^(?:-[ \t]+)?(?:path:[ \t]*)?")
_OF_MEMBER: Final = re.compile(r"^(?:-[ \t]+)?(?:required|format):")
_MODULE: Final = re.compile(r'^[ \t]*module[ \t]+"[^"\n]+"[ \t]*\{', re.MULTILINE)
_SOURCE: Final = re.compile(r'^[ \t]*source[ \t]*=[ \t]*"([^"\n]+)"', re.MULTILINE)
_END: Final = re.compile(r"^\}", re.MULTILINE)
_ABOUT_KAFKA: Final = re.compile(r"kafka|msk|redpanda|confluent|topic", re.IGNORECASE)
_SCHEME: Final = re.compile(r"^(?:optional:)?(?:(?:file|classpath\*?):)?")
_ENDINGS: Final = ("", ".conf", ".json", ".properties", ".yml", ".yaml")


def includes_missing(file: str, text: str, files: Collection[str]) -> list[Unseen]:
    """Return what a file includes and that is not among the given files, by line.

    Args:
        file: The file.
        text: Its text.
        files: The given files, as normal paths.
    """
    found = [*_included(file, text, files), *(_modules_missing(file, text, files) if file.endswith(".tf") else ())]
    return sorted(found, key=lambda one: one.place.line)


def _included(file: str, text: str, files: Collection[str]) -> Iterator[Unseen]:
    for one in _INCLUDES:
        for match in one.line.finditer(text) if one.files.search(file) else ():
            line = text.count("\n", 0, match.start(1)) + 1
            for name, number in _names(match[1], line):
                if not _is_given(name, file, files):
                    yield Unseen(Place(file, number), name)


def _names(text: str, line: int) -> Iterator[tuple[str, int]]:
    """Yield the names in a list, and the line of each."""
    start = 0
    for end in (*(match.start() for match in _SEPARATOR.finditer(text)), len(text)):
        written = text[start:end].strip().strip("[]").strip()
        name = "" if _OF_MEMBER.match(written) else _MEMBER.sub("", written).strip("'\"")
        if name and not name.startswith("#"):
            yield name, line + text.count("\n", 0, start + 1 if text[start : start + 1] == "\n" else start)
        start = end + 1


def _modules_missing(file: str, text: str, files: Collection[str]) -> Iterator[Unseen]:
    """Yield the modules of Terraform about Kafka that are not among the given files."""
    for match in _MODULE.finditer(text):
        end = _END.search(text, match.end())
        block = text[match.start() : end.start() if end else len(text)]
        source = _SOURCE.search(block)
        if source is None or _ABOUT_KAFKA.search(block) is None:
            continue
        folder = posixpath.normpath(posixpath.join(posixpath.dirname(file), source[1]))
        if not source[1].startswith(".") or not any(posixpath.dirname(one) == folder for one in files):
            line = text.count("\n", 0, match.start() + source.start(1)) + 1
            yield Unseen(Place(file, line), f"the module {source[1]}")


def _is_given(written: str, file: str, files: Collection[str]) -> bool:
    bare = _SCHEME.sub("", written)
    path = posixpath.normpath(posixpath.join(posixpath.dirname(file), bare))
    return any(path + ending in files for ending in _ENDINGS)
