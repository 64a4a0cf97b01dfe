"""Load a runbook and refuse one with a flaw."""

from __future__ import annotations

from eosctl.errors import UsageError
from eosctl.model.runbook import Runbook
from eosctl.runbooks.lint import lint_runbook
from eosctl.runbooks.load import find_runbook


def load_sound_runbook(name: str) -> Runbook:
    """Return the runbook of an id or a file.

    Raises:
        UsageError: No runbook has this name, or it has a flaw; the message names the first flaw.
        ConfigFileError: The file is not a runbook.
    """
    source = find_runbook(name)
    flaws = lint_runbook(source.book)
    if flaws:
        first = f"{flaws[0].step or 'the runbook'}: {flaws[0].message}"
        raise UsageError(f"{source.name} is not in order.", first, f"See all: eosctl runbook lint {name}")
    return source.book
