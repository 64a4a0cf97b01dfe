"""``eosctl doctor --profile 'prod-*'``: one row for each cluster."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from eosctl.command_line.invocation import Invocation, note
from eosctl.commands.emit import emit_list
from eosctl.commands.options import ResultOptions
from eosctl.commands.session import perform
from eosctl.findings.fleet import common_exit_code
from eosctl.render.diagnosis.fleet import FLEET_COLUMNS, fleet_format
from eosctl.render.formats import FindingFormat
from eosctl.services.diagnose_fleet import FleetRequest, diagnose_fleet


def show_fleet(request: FleetRequest, output: FindingFormat, file: Path | None, invocation: Invocation) -> NoReturn:
    """Diagnose several clusters, write a row for each, and end with one exit code."""
    result = ResultOptions(fleet_format(output), file)
    rows = perform(diagnose_fleet, request, invocation)
    for row in rows:
        if row.failure:
            note(f"{row.profile}: not read. {row.next_step}".rstrip())
    emit_list(("fleet", "doctor"), rows, FLEET_COLUMNS, result, invocation, code=common_exit_code(rows))
