"""Write the types of the names in the log catalog (eosctl/model/event_names.py), which mypy checks in every rule."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from typing import Final

from eosctl.logs.classifier.catalog import load_catalog
from eosctl.model.log_event import UNCLASSIFIED

_GROUP: Final = re.compile(r"\(\?P<(\w+)>")
_WIDTH: Final = 116
_HEAD: Final = '''\
"""The names that log events have: their categories and fields. Generated from the catalog by `make docs`."""

from typing import Literal, TypeAlias

# fmt: off
'''


def render_event_names() -> str:
    """Render the module."""
    catalog = load_catalog()
    categories = {UNCLASSIFIED, *(one.id for one in catalog.categories)}
    patterns = (pattern for one in catalog.categories for pattern in (*one.patterns, *one.fields))
    fields = {name for pattern in (*patterns, *catalog.common_fields) for name in _GROUP.findall(pattern)}
    return _HEAD + _alias("EventCategory", categories) + "\n" + _alias("EventField", fields) + "# fmt: on\n"


def _alias(name: str, words: Iterable[str]) -> str:
    listed = ", ".join(f'"{word}"' for word in sorted(words))
    indented = textwrap.fill(listed, _WIDTH, initial_indent="    ", subsequent_indent="    ")
    return f"{name}: TypeAlias = Literal[\n{indented},\n]\n"
