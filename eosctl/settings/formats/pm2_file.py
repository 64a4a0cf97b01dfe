"""The file of processes that PM2 starts, ``ecosystem.config.js``: a module of JavaScript that exports one object.

Nothing is evaluated: variables of the environment stay references, and a module with code of its own is not understood.
"""

from __future__ import annotations

import re
from typing import Final

NAMES: Final = ("ecosystem.config.js", "ecosystem.config.cjs", "pm2.config.js", "pm2.config.cjs")
_EXPORTED: Final = re.compile(r"(?:module\.exports|export default)\s*=?\s*(?=[{\[])")
_ENVIRONMENT: Final = re.compile(
    r"""process\.env\.(?P<name>\w+)(?:\s*(?:\|\||\?\?)\s*(?:'(?P<single>[^'\n]*)'|"(?P<double>[^"\n]*)"))?"""
)
_EXPRESSION: Final = re.compile(
    r"""(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    r"""|(?P<colon>:\s*)(?!(?:true|false|null)\b)(?P<code>[A-Za-z_$][\w.$]*(?:\([^()\n]*\))?)(?=\s*[,}\]])"""
)
_TEMPLATE: Final = re.compile(r"`([^`\"\n]*)`")


def as_json5(text: str) -> str | None:
    """Return the exported object as JSON5, each part on its line; None where the module exports none.

    >>> as_json5("module.exports = {apps: [{env: {ID: process.env.ID || 'a'}}]};").strip()
    '{apps: [{env: {ID: "${ID:-a}"}}]}'
    """
    found = _EXPORTED.search(text)
    if found is None:
        return None
    plain = _TEMPLATE.sub(lambda match: f'"{match[1]}"', text[found.end() :].rstrip().removesuffix(";"))
    return "\n" * text.count("\n", 0, found.end()) + _EXPRESSION.sub(_outside, _ENVIRONMENT.sub(_reference, plain))


def _outside(match: re.Match[str]) -> str:
    """Return a name or a call of the module as a reference; strings stay."""
    if match["string"] is not None:
        return match["string"]
    words = re.sub(r"[^\w.]+", " ", match["code"]).strip()
    return f'{match["colon"]}"${{{words}}}"'


def _reference(match: re.Match[str]) -> str:
    default = match["single"] or match["double"]
    return f'"${{{match["name"]}:-{default}}}"' if default else f'"${{{match["name"]}}}"'
