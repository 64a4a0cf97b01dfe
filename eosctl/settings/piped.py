"""The format of a configuration that comes without a file name: standard input, or a pipe.

helm template chart | eosctl config lint -
eosctl config lint <(kubectl get configmap orders -o yaml)
"""

from __future__ import annotations

import json
import re
from typing import Final

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
