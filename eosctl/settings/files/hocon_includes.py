"""Files of HOCON that another one includes: Akka, Pekko, and Play read them as one configuration.

Source: Lightbend's specification of HOCON. What a file includes is below its own keys; files of the class path are
those next to it, as a project has its resources in one folder.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from eosctl.errors import ConfigFileError
from eosctl.settings.files.documents import parse_documents
from eosctl.settings.files.file_texts import read_text
from eosctl.settings.formats.tree import Branch, Node
from eosctl.settings.formats.tree_patches import overlaid

_ENDING: Final = ".conf"
_INCLUDE: Final = re.compile(r'^include[ \t]+(?:\w+\()*"(?:classpath:|file:)?([^"\n]+)"', re.MULTILINE)
_WHOLE: Final = ("application.conf", "reference.conf")
"""Files that a program reads by themselves, also where the file of an environment includes them."""


def _includes_others(file: str, text: str) -> bool:
    """Return whether a file is one of HOCON that includes others at its top."""
    return file.endswith(_ENDING) and _INCLUDE.search(text) is not None


def with_includes(documents: tuple[Node, ...], file: str, text: str) -> tuple[Node, ...]:
    """Return the documents of a file, those of HOCON over what the file includes; each value knows its own file."""
    if not _includes_others(file, text):
        return documents
    return tuple(_joined(_parts(document, file, text, {Path(file)})) for document in documents)


def _joined(parts: Iterable[tuple[Node, str]]) -> Node:
    """Return documents laid over each other, the first one at the bottom, each with its file."""
    (first, file), *others = parts
    below = overlaid(Branch((), first.line), first, file)
    for document, one in others:
        below = overlaid(below, document, one)
    return below


def _parts(document: Node, file: str, text: str, taken: set[Path]) -> Iterator[tuple[Node, str]]:
    """Yield what a file includes, each file the first time, and then its own document."""
    for path in _included(file, text):
        if path in taken:
            continue
        taken.add(path)
        try:
            own = read_text(path)
            parsed = parse_documents(str(path), own)
        except ConfigFileError:
            continue  # reported where the file itself is read
        for one in parsed:
            yield from _parts(one, str(path), own, taken)
    yield document, file


def included_by_others(files: Iterable[Path], texts: Mapping[str, str]) -> frozenset[str]:
    """Return the files of HOCON that others include and no program reads by itself, as normal paths."""
    found: set[str] = set()
    for path in files:
        if not path.name.endswith(_ENDING):
            continue
        try:
            text = texts[str(path)] if str(path) in texts else read_text(path)
        except ConfigFileError:
            continue  # reported where the file itself is read
        found |= {posixpath.normpath(str(one)) for one in _included(str(path), text) if one.name not in _WHOLE}
    return frozenset(found)


def _included(file: str, text: str) -> Iterator[Path]:
    folder = Path(file).parent
    for match in _INCLUDE.finditer(text):
        paths = (folder / f"{match[1]}{ending}" for ending in ("", _ENDING))
        yield from (path for path in paths if path.is_file() and path != Path(file))
