"""What a person must decide about a new release, as code cannot: what its differences mean for transactions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scripts.absorb.difference import changed_settings, new_settings
from scripts.absorb.release import Absorbed

_TRANSACTIONAL: Final = re.compile(
    r"transaction|idempoten|isolation|producer\.id|exactly|eos|statestore|offsets\.|commit|acks|min\.insync|unclean"
)
_APIS: Final = re.compile(r"Txn|Transaction|Produce|Fetch|Offset|ProducerId|Group|ApiVersions|Features")


def render_judgment(old: Absorbed, new: Absorbed) -> str:
    """Render the list as Markdown check boxes."""
    found = list(_questions(old, new))
    lines = ["## To judge", "", *(f"- [ ] {line}" for line in found or ["nothing"])]
    return "\n".join(lines) + "\n"


def _questions(old: Absorbed, new: Absorbed) -> Iterator[str]:
    for setting in new_settings(old, new):
        name = setting.declared.name
        if _TRANSACTIONAL.search(name):
            yield f"{setting.component}: the new setting {name} touches transactions. Explain it; does a check need it?"
    for before, after in changed_settings(old, new):
        if before.declared.default != after.declared.default:
            yield (
                f"{after.component}: the default of {after.declared.name} changes from {before.declared.default!r} to "
                f"{after.declared.default!r}. Does an upgrade need a step?"
            )
    for error in new.errors:
        if error not in old.errors:
            yield f"error {error.code} {error.name}: which clients see it, and what should they do?"
    for name, api in new.apis.items():
        known = old.apis.get(name)
        if known is None or (known.versions != api.versions and _APIS.search(name)):
            was = known.versions if known else "absent"
            yield f"{name}: {was} → {api.versions}. Table, sandbox, client, and a recorded transcript?"
    for name, levels in new.features.items():
        known_levels = old.features.get(name)
        if known_levels is None or known_levels.highest != levels.highest:
            yield f"feature {name} up to {levels.highest}: what does the level enable, and can it be lowered again?"
