"""``eosctl capacity calibrate``: hold the formulas to a cluster."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.commands.emit import emit
from eosctl.commands.options import ClusterOptions, ResultOptions
from eosctl.commands.session import callbacks
from eosctl.errors import ExitCode
from eosctl.model.calibration import CalibrationPlan
from eosctl.render.capacity.calibration import render_calibration, render_trials
from eosctl.services import calibrate_capacity


def calibrate(
    invocation: Invocation,
    cluster: ClusterOptions,
    yes: Annotated[bool, typer.Option("--yes", help="Carry out the plan; by default, only the plan is shown.")] = False,
    *,
    result: ResultOptions,
) -> None:
    """Compare capacity predictions with a real cluster.

    Without --yes, only the plan is printed. Creates its own topics one after another, writes a few MB in about 1,200
    transactions, compares the logs with the predictions, and removes the topics. Its transactional ids and group ids
    expire on their own. Choose a quiet cluster: transactions of other clients would be counted. Exit codes: 0 every
    prediction holds, 1 the cluster could not be used, 3 a prediction is off.

    Examples:
        eosctl capacity calibrate -b kafka-1:9092
        eosctl capacity calibrate -b kafka-1:9092 --yes
    """

    def confirm(plan: CalibrationPlan) -> bool:
        if not yes:
            emit(render_trials(plan, invocation.style()), result)
        return True

    with callbacks(invocation.now_ms) as shown:
        rows = calibrate_capacity.calibrate(cluster.connection, confirm, shown)
    text = render_calibration(rows, "capacity calibrate", invocation.now_ms(), result.output, invocation.style())
    emit(text, result, code=ExitCode.DONE if all(row.holds for row in rows) else ExitCode.FINDINGS)
