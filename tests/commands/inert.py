"""What a result must not hold in each format, so that names and messages of other people stay text."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
import xml.etree.ElementTree as ET
from typing import Final

import yaml

_ACTED_ON: Final = ("Cc", "Cf", "Cs", "Zl", "Zp")
#: The one in C, where PyYAML has it.
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
#: Runners of GitHub Actions take such a line as a command; those of Azure, too, take one within a line.
_COMMAND: Final = re.compile(r"^\s*::.*|##\w*\[.*", re.MULTILINE)
_FORMULA: Final = re.compile(r"[=+\-@\t\r](?!\Z)(?!\d+(?:\.\d+)?\Z)")


def hidden_in(text: str) -> set[str]:
    """Return what a reader cannot see or a terminal acts on; line feeds and tabs lay out the formats."""
    return {f"{c!a}" for c in set(text) if (unicodedata.category(c) in _ACTED_ON and c not in "\n\t") or c == "\u3164"}


def commands_in(text: str) -> list[str]:
    """Return the lines that the runner of a pipeline takes as commands."""
    return _COMMAND.findall(text)


def strings(tree: object) -> list[str]:
    """Return every string of a tree."""
    if isinstance(tree, dict):
        return [text for item in tree.items() for text in strings(list(item))]
    if isinstance(tree, list):
        return [text for item in tree for text in strings(item)]
    return [tree] if isinstance(tree, str) else []


def messages(tree: object) -> list[str]:
    """Return the text of every message of a SARIF log."""
    if isinstance(tree, dict):
        own = [tree["message"]["text"]] if isinstance(tree.get("message"), dict) else []
        return own + [text for value in tree.values() for text in messages(value)]
    return [text for item in tree for text in messages(item)] if isinstance(tree, list) else []


def acted_on(text: str, form: str) -> list[str]:
    """Return what in a result of a format is more than text; nothing if all is well.

    Raises:
        ValueError: It is not of that format.
    """
    found = sorted(hidden_in(text))
    found += [line for line in commands_in(text) if form != "github" or not line.startswith("::")]
    match form:
        case "json":
            json.loads(text)
        case "yaml":
            yaml.load(text, Loader=_LOADER)
        case "sarif":
            found += [one for one in messages(json.loads(text)) if re.search(r"(?<!\\)(\\\\)*\[x(?<!\\)(\\\\)*\]", one)]
        case "junit":
            ET.fromstring(text)
        case "html":
            found += re.findall(r"<b>`|<script>alert", text)
        case "github":
            found += [line for line in text.splitlines() if not line.startswith("::")]
        case "csv":
            found += [cell for row in csv.reader(io.StringIO(text)) for cell in row if _FORMULA.match(cell)]
        case "markdown":
            outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", re.sub(r"\\.", "", text))
            found += re.findall(r"\[x\]|<b>", outside)
    return found
