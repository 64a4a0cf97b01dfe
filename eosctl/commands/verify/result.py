"""How commands of ``eosctl verify`` show a run."""

from __future__ import annotations

from typing import NoReturn

from eosctl.command_line.invocation import Invocation
from eosctl.commands.diagnosis_output import FindingResultOptions, write_judged
from eosctl.render.verify.run import render_verify
from eosctl.services.verification_items import verify_item
from eosctl.services.verify_deployment import Verified


def write_run(verified: Verified, result: FindingResultOptions, invocation: Invocation) -> NoReturn:
    """Write the report of a run, and end with its exit code."""
    item = verify_item(verified.record, verified.report)
    text = render_verify(item, verified.judged, result.output, invocation.style(), result.header)
    write_judged(verified.judged, text, result)
