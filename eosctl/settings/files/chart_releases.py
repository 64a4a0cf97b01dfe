"""Values that tools give a project's own chart elsewhere than in its folder.

These are Argo CD's Application (``helm.values``, ``valuesObject``, ``valueFiles``), Flux's HelmRelease, helmfile, and
``helm upgrade -f FILE CHART`` in scripts and pipelines. Each makes an environment of the chart.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.errors import ConfigFileError
from eosctl.settings.files.documents import parse_documents, parse_within
from eosctl.settings.files.file_texts import read_text
from eosctl.settings.formats.tree import Branch, Leaf, Node, flatten

Values = Mapping[str, Leaf]
_CHART: Final = "Chart.yaml"
_YAML: Final = (".yaml", ".yml")
_SIGNS: Final = ("kind: Application", "kind: HelmRelease", "releases:")
_COMMAND: Final = re.compile(r"\bhelm\s+(?:upgrade|install|template|secrets)\b(?:[^\n\\]|\\\n|\\.)*")
_WORD: Final = re.compile(r"(?:[^\s'\"\\]|'[^'\n]*'|\"[^\"\n]*\")+")
_FILES: Final = ("-f", "--values")
_MOST: Final = 12
"""Releases of one chart that are judged."""


class Given(NamedTuple):
    """The values that a chart is given: the file that gives them, and each by its path."""

    file: str
    values: Values


def charts_given(files: Sequence[Path], texts: Mapping[str, str]) -> Mapping[str, tuple[Given, ...]]:
    """Return what other files give the charts among some files, by the folder of each chart.

    Args:
        files: All files that are read.
        texts: Replacements for the texts of files, by file.
    """
    charts = [posixpath.normpath(str(path.parent)) for path in files if path.name == _CHART]
    if not charts:
        return {}
    found: dict[str, list[Given]] = {}
    for path in files:
        for folder, values in _given_in(path, texts, charts):
            if values.values and len(own := found.setdefault(folder, [])) < _MOST and values not in own:
                own.append(values)
    return {folder: tuple(own) for folder, own in found.items()}


def _given_in(path: Path, texts: Mapping[str, str], charts: Sequence[str]) -> Iterator[tuple[str, Given]]:
    file = str(path)
    try:
        text = texts[file] if file in texts else read_text(path)
        if _is_in(path, charts):
            return  # a chart's own templates
        if "helm " in text:
            yield from _of_commands(text, path, charts)
        if path.suffix in _YAML and any(sign in text for sign in _SIGNS):
            for document in parse_documents(file, text):
                if isinstance(document, Branch):
                    yield from _of_document(document, path, charts)
    except ConfigFileError:
        return  # reported where the file itself is read


def _is_in(path: Path, charts: Iterable[str]) -> bool:
    return any(posixpath.normpath(str(path)).startswith(f"{chart}/") for chart in charts)


def _of_document(document: Branch, path: Path, charts: Sequence[str]) -> Iterator[tuple[str, Given]]:
    match document.text("kind"):
        case "Application":
            sources = [document.get("spec", "source"), *document.items("spec", "sources")]
            for source in sources:
                if isinstance(source, Branch):
                    yield from _released(source.text("path"), source.branch("helm"), path, charts)
        case "HelmRelease":
            yield from _released(document.text("spec", "chart", "spec", "chart"), document.branch("spec"), path, charts)
        case None:
            for release in document.items("releases"):
                if isinstance(release, Branch):
                    yield from _released(release.text("chart"), release, path, charts)
        case _:
            return


def _released(
    chart: str | None, given: Branch | None, path: Path, charts: Sequence[str]
) -> Iterator[tuple[str, Given]]:
    folder = _chart_called(chart or "", charts)
    if folder is None or given is None:
        return
    values: dict[str, Leaf] = {}
    for name in (*given.items("valueFiles"), *given.items("values")):
        if isinstance(name, Leaf) and name.text:
            values |= _in_file(name.text, (Path(folder), path.parent))
        elif isinstance(name, Branch):
            values |= _leaves(name, str(path))
    inline = given.get("values")
    if isinstance(inline, Leaf) and inline.text:
        for document in parse_within("values.yaml", inline.text, inline.line):
            values |= _leaves(document, str(path))
    for node in (inline, given.get("valuesObject")):
        if isinstance(node, Branch):
            values |= _leaves(node, str(path))
    yield folder, Given(str(path), values)


def _of_commands(text: str, path: Path, charts: Sequence[str]) -> Iterator[tuple[str, Given]]:
    for command in _COMMAND.finditer(text):
        words = [word.strip("'\"") for word in _WORD.findall(command[0].replace("\\\n", " "))]
        folder = next((one for word in words if "/" in word and (one := _chart_called(word, charts))), None)
        folder = folder or next((one for word in words[2:] if (one := _chart_called(word, charts))), None)
        if folder is None:
            continue
        names = [after for word, after in pairwise(words) if word in _FILES]
        names += [word.partition("=")[2] for word in words if word.startswith("--values=")]
        values: dict[str, Leaf] = {}
        for name in names:
            values |= _in_file(name, (path.parent, *path.parents[1:4], *Path(folder).parents))
        own = next((leaf.file for leaf in values.values()), "")
        yield folder, Given(own, values)


def _chart_called(name: str, charts: Iterable[str]) -> str | None:
    """Return the only chart whose folder a path names; the path may begin in any folder."""
    wanted = posixpath.normpath(name.strip()).lstrip("./")
    found = {chart for chart in charts if wanted and f"/{chart}".endswith(f"/{wanted}")}
    return found.pop() if len(found) == 1 else None


def _in_file(name: str, folders: Iterable[Path]) -> Values:
    """Return the values of a file that stands in one of some folders."""
    path = next((one for folder in folders if (one := folder / name).is_file()), None)
    if path is None or (path.name == "values.yaml" and (path.parent / _CHART).is_file()):
        return {}
    file = posixpath.normpath(str(path))
    found: dict[str, Leaf] = {}
    for document in parse_documents(file, read_text(path)):
        found |= _leaves(document, file)
    return found


def _leaves(node: Node, file: str) -> dict[str, Leaf]:
    pairs = flatten(node) if isinstance(node, Branch) else ()
    return {
        key: Leaf(leaf.text, leaf.line, file) for key, leaf in pairs if leaf.text is not None and "\n" not in leaf.text
    }
