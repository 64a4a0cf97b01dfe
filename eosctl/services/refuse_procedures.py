"""Refuse requests for procedures that destroy data."""

from __future__ import annotations

from shlex import quote

from eosctl.errors import ProcedureRefused
from eosctl.runbooks.refused import find_refused


def refuse_procedures(text: str) -> None:
    """Refuse words that ask for a procedure that destroys data, and name the safe way.

    Args:
        text: The words of a user.

    Raises:
        ProcedureRefused: They ask for one.
    """
    for one in find_refused(text):
        raise ProcedureRefused(f"REFUSED: {one.name}.", one.why, f"{one.instead} See: eosctl diagnose {quote(text)}")
