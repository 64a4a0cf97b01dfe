"""``eosctl checklist list``: the checklists that come with eosctl."""

from __future__ import annotations

from eosctl.command_line.invocation import Invocation
from eosctl.commands.emit import emit_list
from eosctl.commands.options import ResultOptions
from eosctl.render.diagnosis.checklist import SUMMARY_COLUMNS, checklist_summary
from eosctl.services.run_checklist import list_checklists


def list_all(invocation: Invocation, result: ResultOptions) -> None:
    """List the checklists.

    Examples:
        eosctl checklist list
        eosctl checklist list -o json
    """
    items = tuple(map(checklist_summary, list_checklists()))
    emit_list(("checklists", "checklist list"), items, SUMMARY_COLUMNS, result, invocation)
