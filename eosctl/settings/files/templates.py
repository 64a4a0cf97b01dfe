"""Read templates of Helm and Jinja: literal values are read, and expressions stay as unknown values."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.errors import ConfigFileError
from eosctl.model.deployment import Place, Value
from eosctl.settings.files.chart_releases import Given
from eosctl.settings.files.documents import parse_documents
from eosctl.settings.files.file_texts import DIRECTIVE, read_text
from eosctl.settings.formats.tree import Branch, Leaf, flatten

_WORDS: Final = "if|else|end|range|with|define|template|include|toYaml|tpl|block"
_CONTROL: Final = re.compile(
    rf"^[ \t]*(?:-[ \t]*)?(?:\{{\{{-?[ \t]*(?:/\*.*?\*/|(?:{_WORDS})\b[^}}\n]*|\$\w+[^}}\n]*)-?\}}\}}"
    r"|\{%.*?%\}|\{#.*?#\})(?:[ \t]*\{\{[^{}\n]*\}\}|\s*(?:\{\}|\[\]))*[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
# A key with expressions alone, above lines that stand below it: they open a condition, or add lines to those.
_OPENED: Final = re.compile(
    r"^(?P<indent>[ \t]*)(?P<key>(?:-[ \t]+)?[\w./-]+:)(?:[ \t]+\{\{[^{}\n]*\}\})+[ \t]*$"
    r"(?=\n(?:[ \t]*\n)*(?P=indent)[ \t]+[^\s#])",
    re.MULTILINE,
)
_EXPRESSION: Final = re.compile(r"\{\{(?:(?!\{\{|\}\}).)*\}\}")
_FILTERS: Final = r"s?quote|int(?:64)?|float64|toString|trim|default[ \t]+[\w.\"-]+"
_VALUE: Final = re.compile(rf"\{{\{{-?[ \t]*\.Values\.([\w.-]+?)(?:[ \t]*\|[ \t]*(?:{_FILTERS}))*[ \t]*-?\}}\}}")
_HEAD: Final = r"(?P<head>[ \t]*(?:-[ \t]+)*(?:[\w./-]+:[ \t]+)?)"
_ENTRY: Final = re.compile(rf"^{_HEAD}(?P<rest>[^\n]*\{{\{{[^\n]*)$", re.MULTILINE)
_NO_CHARTS: Final[Mapping[str, tuple[Given, ...]]] = {}
_MOST_ENVIRONMENTS: Final = 6
"""Files of values that a template is filled with, next to the chart's own."""


def without_templates(text: str, values: Mapping[str, Leaf] | None = None) -> str:
    """Return a template without its control lines, and with its expressions in quotes; lines keep their numbers.

    Args:
        text: The template.
        values: What a chart's values file gives, by the path of each value.

    >>> without_templates("a: {{ .Values.a }}\\n{{- if .Values.b }}\\nb: x-{{ .Release.Name }}", {"a": Leaf("3", 1)})
    "a: 3\\n\\nb: 'x-{{ .Release.Name }}'"
    """
    plain = _CONTROL.sub(lambda match: re.sub(r"[^\n]", "", match[0]), DIRECTIVE.sub("", text))
    plain = _OPENED.sub(r"\g<indent>\g<key>", plain)
    if values:
        plain = _VALUE.sub(lambda match: own.text or match[0] if (own := values.get(match[1])) else match[0], plain)
    return _ENTRY.sub(_quoted, plain)


class Filling(NamedTuple):
    """The values that a template is filled with; ``environment`` is the file over the chart's own, if there is one."""

    values: Mapping[str, Leaf]
    environment: str = ""


def fillings_of(file: str, text: str, charts: Mapping[str, tuple[Given, ...]] = _NO_CHARTS) -> list[Filling]:
    """Return what a chart fills a template with: its default values, and those of each environment that differ.

    Args:
        file: The template.
        text: What stands in it.
        charts: What files outside of charts give them, by their folders.
    """
    folder = next((parent.parent for parent in Path(file).parents if parent.name == "templates"), None)
    own = {} if folder is None else _values_of(folder / "values.yaml")
    elsewhere = charts.get(posixpath.normpath(str(folder)), ())
    if folder is None or not (own or elsewhere):
        return [Filling({})]
    used = {match[1] for match in _VALUE.finditer(text)}
    files = sorted(folder.glob("values[-._]?*.y*ml"))[:_MOST_ENVIRONMENTS] if used else []
    others = [*((str(path), _values_of(path)) for path in files), *elsewhere]
    return [
        Filling(own),
        *(Filling({**own, **values}, path) for path, values in others if _differs(values, own, used)),
    ]


def _differs(values: Mapping[str, Leaf], own: Mapping[str, Leaf], used: set[str]) -> bool:
    return any(key in values and (key not in own or values[key].text != own[key].text) for key in used)


def _values_of(path: Path) -> Mapping[str, Leaf]:
    try:
        return _values_in(str(path), read_text(path)) if path.is_file() else {}
    except ConfigFileError:
        return {}  # reported where the file itself is read


@lru_cache(maxsize=16)
def _values_in(path: str, text: str) -> Mapping[str, Leaf]:
    """Return the values in the text of a chart's file, which are parsed once for all templates of the chart."""
    documents = parse_documents(path, text)
    leaves = (pair for document in documents if isinstance(document, Branch) for pair in flatten(document))
    return {
        key: Leaf(leaf.text, leaf.line, path) for key, leaf in leaves if leaf.text is not None and "\n" not in leaf.text
    }


def places_of_values(text: str, values: Mapping[str, Leaf]) -> dict[int, Place]:
    """Return where the values stand that a chart's file gives, by the line of the template that takes one."""
    found = ((number, _VALUE.findall(line)) for number, line in enumerate(text.splitlines(), 1))
    return {
        number: Place(leaf.file, leaf.line)
        for number, names in found
        if len(names) == 1 and (leaf := values.get(names[0])) is not None and leaf.file
    }


def _quoted(match: re.Match[str]) -> str:
    head, rest = match["head"], match["rest"].rstrip()
    if not head.rstrip().endswith((":", "-")) or rest[:1] in ("'", "|", ">"):
        return match[0]
    plain = _EXPRESSION.sub(lambda one: one[0].replace('"', "").replace("'", ""), rest)
    bare = plain[1:-1] if len(plain) > 1 and plain[0] == plain[-1] == '"' else plain
    return f"{head}'{bare.replace(chr(39), '')}'"


def fills_templates(file: str, used: Iterable[str]) -> bool:
    """Return whether a file holds the values of a chart that is read as its templates become with them."""
    folder, _, name = file.rpartition("/")
    templates = f"{folder}/templates/" if folder else "templates/"
    return name == "values.yaml" and any(one.startswith(templates) for one in used)


def at_variables(values: Mapping[str, Value], places: Mapping[int, Place]) -> Mapping[str, Value]:
    """Return the values, those that a variable of the host makes at the line of the variable."""
    if not places:
        return values
    return {
        name: replace(value, place=places[value.place.line])
        if value.place is not None and value.place.line in places
        else value
        for name, value in values.items()
    }
