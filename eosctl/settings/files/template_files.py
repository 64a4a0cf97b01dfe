"""Files that Terraform's ``templatefile`` fills in: MSK's ``server.properties``, values of charts, and the like.

The file's text takes the place of the call, with the values that the call gives; what the module does not decide stays
a reference. A file with directives (``%{ if }``) is not filled in.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from eosctl.errors import ConfigFileError
from eosctl.settings.files.file_texts import mentions_kafka, read_text
from eosctl.settings.formats.hcl_file import TEMPLATE_FILE, TEMPLATE_VALUES
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row

_ENDING: Final = ".tf"
_CALL: Final = re.compile(r'\btemplatefile\(\s*"(?:\$\{path\.(?:module|root|cwd)\}/|\./)?([^"$]+)"')
_REFERENCE: Final = re.compile(r"(?<!\$)\$\{\s*(\w+)\s*\}")
_DIRECTIVE: Final = "%{"


def has_template_files(file: str, text: str) -> bool:
    """Return whether a file of Terraform fills in templates of files."""
    return file.endswith(_ENDING) and "templatefile(" in text


def with_template_files(document: Node, file: str) -> Node:
    """Return a document with the texts of files in the place of the calls that fill them in."""
    if isinstance(document, Row):
        return Row(tuple(with_template_files(one, file) for one in document.nodes), document.line)
    if not isinstance(document, Branch):
        return document
    name = document.text(TEMPLATE_FILE)
    if name is not None:
        return _filled(document, name, file)
    return Branch(tuple((key, with_template_files(child, file)) for key, child in document.entries), document.line)


def filled_by_terraform(files: Iterable[Path], texts: Mapping[str, str]) -> frozenset[str]:
    """Return the files that calls in files of Terraform fill in, as normal paths."""
    found: set[str] = set()
    for path in files:
        if path.suffix == _ENDING:
            try:
                text = texts[str(path)] if str(path) in texts else read_text(path)
            except ConfigFileError:
                continue  # reported where the file itself is read
            found |= {
                posixpath.normpath(str(path.parent / match[1]))
                for match in _CALL.finditer(text)
                if _text_of(path.parent / match[1])
            }
    return frozenset(found)


def _filled(call: Branch, name: str, file: str) -> Leaf:
    path = Path(posixpath.normpath(str(Path(file).parent / name)))
    text = _text_of(path)
    if not text:
        return Leaf(f"${{templatefile {name}}}", call.line)
    given = call.branch(TEMPLATE_VALUES) or Branch((), call.line)

    def value(match: re.Match[str]) -> str:
        found = given.text(match[1])
        return match[0] if found is None else found

    return Leaf(_REFERENCE.sub(value, text), 1, str(path))


def _text_of(path: Path) -> str:
    """Return the text of a template about Kafka; empty for others, and for one with directives."""
    try:
        text = read_text(path) if path.is_file() else ""
    except ConfigFileError:
        return ""
    return text if _DIRECTIVE not in text and mentions_kafka(str(path), text) else ""
