"""Render predictions next to measurements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from eosctl.model.calibration import CalibrationPlan, CalibrationRow
from eosctl.model.capacity_plan import Unit
from eosctl.render.capacity.figure_text import figure_text
from eosctl.render.envelope import listing
from eosctl.render.formats import OutputFormat
from eosctl.render.listing import Column, render_listing
from eosctl.render.page import PLAIN, Block, Grid, Line, Style, render_page


class CalibrationItem(msgspec.Struct, frozen=True):
    """One figure of one trial; ``error`` is how far the prediction is off, relative to what was measured.

    ``at_most`` is the upper end where a range is predicted.
    """

    trial: str
    figure: str
    unit: Unit
    predicted: float
    measured: float
    error: float
    tolerance: float
    holds: bool
    at_most: float | None = None


def predicted_text(predicted: float, at_most: float | None, unit: Unit) -> str:
    """Write a prediction, or the range that it is."""
    text = figure_text(predicted, unit)
    return text if at_most is None else f"{text} to {figure_text(at_most, unit)}"


CALIBRATION_COLUMNS: Final[tuple[Column[CalibrationItem], ...]] = (
    Column("TRIAL", lambda item: item.trial),
    Column("FIGURE", lambda item: item.figure),
    Column("PREDICTED", lambda item: predicted_text(item.predicted, item.at_most, item.unit)),
    Column("MEASURED", lambda item: figure_text(item.measured, item.unit)),
    Column("OFF-BY", lambda item: f"{item.error:+.1%}"),
    Column("TOLERANCE", lambda item: "range" if item.at_most is not None else f"{item.tolerance:.0%}"),
    Column("VERDICT", lambda item: "holds" if item.holds else "OFF"),
)


def render_calibration(
    rows: Sequence[CalibrationRow], command: str, generated_at_ms: int, output: OutputFormat, style: Style = PLAIN
) -> str:
    """Render predictions next to measurements."""
    items = tuple(
        CalibrationItem(
            trial=r.trial,
            figure=r.figure,
            unit=r.unit,
            predicted=r.predicted,
            measured=r.measured,
            error=r.error,
            tolerance=r.tolerance,
            holds=r.holds,
            at_most=r.at_most,
        )
        for r in rows
    )
    return render_listing(listing("calibration", command, generated_at_ms, items), CALIBRATION_COLUMNS, output, style)


def render_trials(plan: CalibrationPlan, style: Style = PLAIN) -> str:
    """Describe what a calibration would do."""
    rows = tuple(
        (
            trial.name,
            trial.profile.value,
            str(trial.id_count),
            str(trial.transaction_count),
            str(trial.partitions_per_transaction),
            f"{trial.value_bytes} B",
        )
        for trial in plan.trials
    )
    partitions = plan.partitions_per_broker
    blocks: list[Block] = [
        Line(f"PLAN: calibrate on {plan.address}", "bold"),
        Line(f"Each trial creates a topic with its name and {partitions} partitions per broker, and deletes it."),
        Grid(rows, ("TOPIC", "PROFILE", "IDS", "TRANSACTIONS", "PARTITIONS/TXN", "VALUE")),
        Line("Nothing was changed. Run it with --yes.", "bold"),
    ]
    return render_page(blocks, style)
