"""``eosctl capacity calibrate``: hold the formulas to a cluster."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.commands.emit import emit
from eosctl.commands.invocation import Invocation
from eosctl.commands.options import ClusterOptions, ResultOptions
from eosctl.commands.session import callbacks
from eosctl.errors import ExitCode
from eosctl.model.calibration import CalibrationPlan
from eosctl.render.capacity.calibration import render_calibration, render_trials
from eosctl.services import calibrate_capacity


def calibrate(
    invocation: Invocation,
    cluster: ClusterOptions,
    yes: Annotated[bool, typer.Option("--yes", help="Carry it out; without, only the plan is shown.")] = False,
    *,
    result: ResultOptions,
) -> None:
    """Run small loads on a cluster and compare what its logs then hold with what the formulas predict.

    It makes topics of its own, one after the other, writes a few MB in some 1,200 transactions and removes the topics.
    Its transactional ids (and group ids) expire by themselves. Others' transactions at the same time would be counted
    too: choose a quiet cluster. Exit codes: 0 every prediction holds, 1 the cluster cannot be worked
    with, 3 one is off.
    """

    def confirm(plan: CalibrationPlan) -> bool:
        if not yes:
            emit(render_trials(plan, invocation.style()), result)
        return True

    with callbacks(invocation.now_ms) as shown:
        rows = calibrate_capacity.calibrate(cluster.connection, confirm, shown)
    text = render_calibration(rows, "capacity calibrate", invocation.now_ms(), result.output, invocation.style())
    emit(text, result, code=ExitCode.DONE if all(row.holds for row in rows) else ExitCode.FINDINGS)
