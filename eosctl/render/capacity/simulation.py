"""A simulated run as a table and in the machine formats."""

from __future__ import annotations

from typing import Final

from eosctl.model.capacity_simulation import PhaseLatency, SimulationReport
from eosctl.render.envelope import listing
from eosctl.render.formats import OutputFormat
from eosctl.render.listing import Column, render_listing
from eosctl.render.page import PLAIN, Grid, Line, Style, render_page
from eosctl.text import milliseconds_text

PHASE_COLUMNS: Final[tuple[Column[PhaseLatency], ...]] = (
    Column("PHASE", lambda phase: phase.phase),
    Column("COMMITS", lambda phase: f"{phase.commit_count:,}"),
    Column("COMMIT-P50", lambda phase: milliseconds_text(phase.commit_p50_ms)),
    Column("COMMIT-P99", lambda phase: milliseconds_text(phase.commit_p99_ms)),
    Column("COMMIT-MAX", lambda phase: milliseconds_text(phase.commit_max_ms)),
    Column("VISIBLE-P50", lambda phase: milliseconds_text(phase.visible_p50_ms)),
    Column("VISIBLE-P99", lambda phase: milliseconds_text(phase.visible_p99_ms)),
    Column("VISIBLE-MAX", lambda phase: milliseconds_text(phase.visible_max_ms)),
)


def render_simulation(
    report: SimulationReport, generated_at_ms: int, output: OutputFormat, style: Style = PLAIN
) -> str:
    """Render a simulated run."""
    if output not in (OutputFormat.TABLE, OutputFormat.WIDE):
        result = listing("capacity-simulation", "capacity simulate", generated_at_ms, (report,))
        if output is OutputFormat.TSV:
            phases = listing("capacity-simulation", "capacity simulate", generated_at_ms, report.phases)
            return render_listing(phases, PHASE_COLUMNS, output)
        return render_listing(result, (), output)
    head = (
        f"{report.workload}: brokers {report.utilisation:.0%} busy; nothing became visible for at most "
        f"{milliseconds_text(report.standstill_ms)} (seed {report.seed})"
    )
    rows = tuple(tuple(column.cell(phase) for column in PHASE_COLUMNS) for phase in report.phases)
    return render_page([Line(head, "bold"), Grid(rows, tuple(column.header for column in PHASE_COLUMNS))], style)
