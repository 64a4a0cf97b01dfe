"""Coverage and cycles of a verification in words."""

from __future__ import annotations

from eosctl.model.verification import CoverageItem, CyclesItem


def coverage_line(coverage: CoverageItem) -> str:
    """Say how many cells of the table were met."""
    share = coverage.met_count / coverage.cell_count if coverage.cell_count else 0
    return f"{coverage.met_count} of {coverage.cell_count} combinations of state and fault were met ({share:.0%})"


def cycles_line(cycles: CyclesItem) -> str:
    """Say how many groups of transactions depend on each other in circles, and which circles Kafka allows."""
    return (
        f"{cycles.g1c_count:,} of reads (G1c); Kafka allows {cycles.g0_count:,} of writes (G0) and "
        f"{cycles.g_single_count:,} with one read that came too early (G-single)"
    )
