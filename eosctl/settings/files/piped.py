"""The format of a configuration that comes without a file name: standard input, or a pipe.

helm template chart | eosctl config lint -
eosctl config lint <(kubectl get configmap orders -o yaml)
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.settings.files.documents import format_of
from eosctl.settings.files.file_texts import read_text

_STANDARD_INPUT: Final = ("-", "/dev/stdin")
_HCL: Final = re.compile(
    r"^(?:resource|variable|module|locals|provider|data|terraform|output)\b[^\n=:]*\{", re.MULTILINE
)
_SQL: Final = re.compile(
    r"^[ \t]*(?:CREATE[ \t]+(?:TEMPORARY[ \t]+)?TABLE\b|SET[ \t]+'|INSERT[ \t]+INTO\b)", re.IGNORECASE | re.MULTILINE
)
_SECTION: Final = re.compile(r"\[[\w .:/-]+\]")
_YAML: Final = re.compile(r"""^(?:---|[ \t]*(?:- +)?(?:- |["']?[\w./$-]+["']?[ \t]*:(?:[ \t]|$)))""", re.MULTILINE)
_PROPERTY: Final = re.compile(r"^[ \t]*[\w.\[\]-]+[ \t]*=", re.MULTILINE)
_BLOCK: Final = re.compile(r"^[ \t]*(?:- +)?[\w./-]+:[ \t]*[|>][+-]?\d?[ \t]*$", re.MULTILINE)


class Piped(NamedTuple):
    """Paths where each pipe has a name with an ending, and the texts of pipes and of other paths by path."""

    paths: tuple[Path, ...]
    texts: Mapping[str, str]


def with_pipes(paths: Sequence[Path], texts: Mapping[str, str]) -> Piped:
    """Read pipes, and ``-`` for standard input, and name each by the format of its text.

    Args:
        paths: Files, folders, and pipes.
        texts: Texts that replace the contents of files, by path.

    Raises:
        ConfigFileError: A pipe cannot be read, or is not text.
    """
    named, read = list[Path](), dict(texts)
    for path in paths:
        is_input = str(path) in _STANDARD_INPUT
        if is_input or (path.is_fifo() and format_of(str(path)) is None):
            text = read_text(Path("/dev/stdin") if is_input else path)
            path = Path(f"{'standard-input' if is_input else path}{ending_of(text)}")
            read[str(path)] = text
        named.append(path)
    return Piped(tuple(named), read)


def ending_of(text: str) -> str:
    """Return the ending of a file that would hold a text: that of properties if it is nothing else.

    >>> ending_of("acks=all\\n"), ending_of("data:\\n  a.properties: |\\n    acks=1\\n    retries=1\\n")
    ('.properties', '.yaml')
    >>> ending_of('{"acks": 1}'), ending_of("{{ acks }}: 1"), ending_of("[default]\\nacks=1\\n")
    ('.json', '.yaml', '.ini')
    """
    if _is_json(text):
        return ".json"
    if _HCL.search(text) is not None:
        return ".tf"
    if _SQL.search(text) is not None:
        return ".sql"
    lines = (line.strip() for line in text.splitlines())
    if _SECTION.fullmatch(next((line for line in lines if line and line[0] not in "#;"), "")) is not None:
        return ".ini"
    # A block of YAML may hold many properties.
    if _BLOCK.search(text) is not None or len(_YAML.findall(text)) > len(_PROPERTY.findall(text)):
        return ".yaml"
    return ".yaml" if text.lstrip().startswith("{{") else ".properties"


def _is_json(text: str) -> bool:
    start = text.lstrip("\ufeff \t\r\n")
    if not start.startswith(("{", "[")) or start.startswith("{{"):
        return False
    try:
        json.loads(start)
    except (ValueError, RecursionError):
        # A cut or commented document is JSON all the same; the parser then names the line.
        return re.match(r"[{\[]\s*[\"{\[/\]}]", start) is not None
    return True
