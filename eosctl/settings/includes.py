"""Find what a file includes from elsewhere, which no rule judges if it is not among the given files."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from eosctl.model.deployment import Place, Unseen


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
)
_SCHEME: Final = re.compile(r"^(?:optional:)?(?:(?:file|classpath\*?):)?")
_ENDINGS: Final = ("", ".conf", ".json", ".properties", ".yml", ".yaml")


def includes_missing(file: str, text: str, files: Collection[str]) -> Iterator[Unseen]:
    """Yield what a file includes and that is not among the given files.

    Args:
        file: The file.
        text: Its text.
        files: The given files, as normal paths.
    """
    for one in _INCLUDES:
        for match in one.line.finditer(text) if one.files.search(file) else ():
            for name in match[1].split(","):
                written = name.strip().strip("'\"[]")
                if written and not _is_given(written, file, files):
                    yield Unseen(Place(file, text.count("\n", 0, match.start(1)) + 1), written)


def _is_given(written: str, file: str, files: Collection[str]) -> bool:
    bare = _SCHEME.sub("", written)
    path = posixpath.normpath(posixpath.join(posixpath.dirname(file), bare))
    return any(path + ending in files for ending in _ENDINGS)
