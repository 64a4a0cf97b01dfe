"""List the checklists that come with eosctl."""

from __future__ import annotations

from eosctl.knowledge.checklist_files import shipped_checklists
from eosctl.model.checklist import Checklist


def list_checklists() -> tuple[Checklist, ...]:
    """Return the checklists that come with eosctl, by id."""
    return shipped_checklists()
