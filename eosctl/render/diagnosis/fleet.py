"""Several clusters as rows: their grades, the numbers of findings, and the worst one of each."""

from __future__ import annotations

from typing import Final

from eosctl.errors import UsageError
from eosctl.findings.fleet import ClusterRow
from eosctl.render.formats import FindingFormat, OutputFormat
from eosctl.render.listing import Column


def fleet_format(output: FindingFormat) -> OutputFormat:
    """Return the format for rows of clusters.

    Raises:
        UsageError: The format shows the findings of one cluster.
    """
    if output.value not in list(OutputFormat):
        raise UsageError(
            f"-o {output.value} shows one cluster, and --profile names several.",
            f"A row for each cluster has these formats: {', '.join(OutputFormat)}.",
            "Choose one of them, or name one profile.",
        )
    return OutputFormat(output.value)


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def _first(row: ClusterRow) -> str:
    if row.failure:
        return f"not read: {row.failure}"
    return row.first or "no findings"


FLEET_COLUMNS: Final[tuple[Column[ClusterRow], ...]] = (
    Column("PROFILE", lambda row: row.profile),
    Column("CLUSTER-ID", lambda row: row.cluster_id or "-", wide=True),
    Column("GRADE", lambda row: row.grade),
    Column("SCORE", lambda row: _number(row.score)),
    Column("CRITICAL", lambda row: _number(None if row.failure else row.critical)),
    Column("ERROR", lambda row: _number(None if row.failure else row.error)),
    Column("WARNING", lambda row: _number(None if row.failure else row.warning)),
    Column("INFO", lambda row: _number(None if row.failure else row.info), wide=True),
    Column("EVALUATED", lambda row: _number(None if row.failure else row.evaluated), wide=True),
    Column("SKIPPED", lambda row: _number(None if row.failure else row.skipped)),
    Column("EXIT", lambda row: str(row.exit_code), wide=True),
    Column("FIRST", _first),
)
"""The columns of a run over several clusters; without an answer, a cluster has no numbers."""
