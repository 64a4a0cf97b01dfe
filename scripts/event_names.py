"""Write the types of the names in the log catalog (eosctl/model/event_names.py), which mypy checks in every rule."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from typing import Final

from eosctl.logs.classifier.catalog import Weight, load_catalog
from eosctl.model.log_event import UNCLASSIFIED

_GROUP: Final = re.compile(r"\(\?P<(\w+)>")
_WIDTH: Final = 116
_HEAD: Final = '''\
"""The names that log events have: their categories and fields. Generated from the catalog by `make docs`."""

from typing import Final, Literal, TypeAlias

# fmt: off
'''


def render_event_names() -> str:
    """Render the module."""
    catalog = load_catalog()
    categories = {UNCLASSIFIED, *(one.id for one in catalog.categories)}
    patterns = (pattern for one in catalog.categories for pattern in (*one.patterns, *one.fields))
    fields = {name for pattern in (*patterns, *catalog.common_fields) for name in _GROUP.findall(pattern)}
    acting = {one.id for one in catalog.categories if one.weight in (Weight.ACT, Weight.CRITICAL)}
    watched = {one.id for one in catalog.categories if one.weight is Weight.WATCH}
    parts = (
        _alias("EventCategory", categories),
        _set("ACTING_CATEGORIES", acting, "The categories whose records call for action by themselves."),
        _set("WATCHED_CATEGORIES", watched, "The categories whose records warn."),
        _alias("EventField", fields),
    )
    return _HEAD + "\n".join(parts) + "# fmt: on\n"


def _alias(name: str, words: Iterable[str]) -> str:
    return f"{name}: TypeAlias = Literal[\n{_listed(words)},\n]\n"


def _set(name: str, words: Iterable[str], meaning: str) -> str:
    return f'{name}: Final[frozenset[EventCategory]] = frozenset([\n{_listed(words)},\n])\n"""{meaning}"""\n'


def _listed(words: Iterable[str]) -> str:
    listed = ", ".join(f'"{word}"' for word in sorted(words))
    return textwrap.fill(listed, _WIDTH, initial_indent="    ", subsequent_indent="    ")
