"""Edit the text of the profiles file, so that a user's comments and order stay.

YAML's own parser reports where a profile begins and ends. An edit counts only if the edited text then reads as wanted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import yaml

from eosctl.errors import ConfigFileError
from eosctl.knowledge.small_files import load_yaml

_KEY: Final = "profiles"
_INDENT: Final = 2


def edited_text(text: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return the text with other profiles.

    Args:
        text: The file; empty if it does not exist.
        before: Its profiles.
        after: The wanted ones.

    Raises:
        ConfigFileError: It has comments, and no line can be edited alone, as in ``profiles: {a: ...}``.
    """
    changed = text
    for name in before:
        if name not in after or after[name] != before[name]:
            changed = _without(changed, name)
    for name, body in after.items():
        if name not in before or after[name] != before[name]:
            changed = _with(changed, name, body)
    if _reads_as(changed, after):
        return changed
    if "#" in text:
        raise ConfigFileError(
            "The profiles file cannot be edited without the loss of its comments.",
            "Its profiles are not written as one block each.",
            "Edit it by hand.",
        )
    return _dumped({_KEY: dict(after)})


def _dumped(document: Mapping[str, Any]) -> str:
    return yaml.safe_dump(dict(document), sort_keys=False, allow_unicode=True)


def _reads_as(text: str, wanted: Mapping[str, Any]) -> bool:
    try:
        document = load_yaml(text)
    except yaml.YAMLError:
        return False
    return isinstance(document, dict) and document.get(_KEY) == dict(wanted)


def _profiles(text: str) -> tuple[yaml.Node, yaml.MappingNode] | None:
    """Return the key of all profiles and their mapping."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return None
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    return next(
        ((key, value) for key, value in pairs if key.value == _KEY and isinstance(value, yaml.MappingNode)), None
    )


def _without(text: str, name: str) -> str:
    found = _profiles(text)
    if found is None:
        return text
    outer, node = found
    lines = text.splitlines(keepends=True)
    for key, value in node.value:
        if key.value == name:
            del lines[key.start_mark.line : _last_line(value) + 1]
    if len(node.value) == 1:  # An empty mapping takes the place of the last profile.
        at, column = outer.end_mark.line, outer.end_mark.column + 1
        lines[at] = f"{lines[at][:column]} {{}}{lines[at][column:]}"
    return "".join(lines)


def _with(text: str, name: str, body: Any) -> str:
    found = _profiles(text)
    if found is None:
        return text + _dumped({_KEY: {name: body}})
    node = found[1]
    if not node.value:
        text = text[: node.start_mark.index].rstrip(" ") + text[node.end_mark.index :]
    lines = text.splitlines(keepends=True)
    at = _last_line(node) + 1
    indent = " " * (node.value[0][0].start_mark.column if node.value else _INDENT)
    block = "".join(f"{indent}{line}\n" for line in _dumped({name: body}).splitlines())
    if at > 0 and not lines[at - 1].endswith("\n"):
        block = f"\n{block}"
    return "".join([*lines[:at], block, *lines[at:]])


def _last_line(node: yaml.Node) -> int:
    """Return the number, from 0, of the last line with content; the end of a block includes comments that follow it."""
    if isinstance(node, yaml.MappingNode) and node.value and not node.flow_style:
        return _last_line(node.value[-1][1])
    if isinstance(node, yaml.SequenceNode) and node.value and not node.flow_style:
        return _last_line(node.value[-1])
    end = node.end_mark
    return end.line - 1 if end.column == 0 and end.line > node.start_mark.line else end.line
