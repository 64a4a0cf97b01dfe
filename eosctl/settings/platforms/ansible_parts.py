"""Parts of an Ansible project that the templates in it use: variables, inventories, and the tasks that write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Final

from eosctl.errors import ConfigFileError
from eosctl.settings.files.file_texts import read_text
from eosctl.settings.platforms.ansible import is_variables_file, names_in_expressions, project_of
from eosctl.settings.platforms.ansible_inventory import parse_inventory

_NAME: Final = re.compile(r"(?:^[ \t]*|[ \t])([A-Za-z_]\w*)[ \t]*[:=]", re.MULTILINE)
_TASKS: Final = ("tasks", "handlers")


def serves_templates(file: str, used: Iterable[str]) -> bool:
    """Return whether a file holds variables of a template of its project that is read, or the task that writes it.

    Args:
        file: A file without settings of its own.
        used: The files whose settings are judged.
    """
    folders = Path(file).parts[:-1]
    is_task = any(folder in _TASKS for folder in folders)
    if not is_task and not is_variables_file(file) and not file.endswith((".ini", ".yml", ".yaml")):
        return False
    root = project_of(Path(file))
    templates = [one for one in used if "/templates/" in f"/{one}" and project_of(Path(one)) == root]
    if not templates:
        return False
    text = _text(Path(file))
    if is_task:
        return any(one.rpartition("/")[2] in text for one in templates)
    names = set(_NAME.findall(text))
    if not names:
        return parse_inventory(text, file) is not None
    return any(not names.isdisjoint(_variables(Path(one))) for one in templates)


@lru_cache(maxsize=64)
def _variables(template: Path) -> frozenset[str]:
    return names_in_expressions(_text(template))


def _text(path: Path) -> str:
    try:
        return read_text(path)
    except ConfigFileError:
        return ""  # reported where the file itself is read
