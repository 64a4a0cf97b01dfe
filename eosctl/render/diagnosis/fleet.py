"""Several clusters as rows: their grades, the numbers of findings, and the worst one of each."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from typing import Final

from eosctl.errors import UsageError
from eosctl.findings.fleet import ClusterRow, FleetFinding
from eosctl.render.formats import FindingFormat, OutputFormat
from eosctl.render.listing import Column
from eosctl.render.templating import render_template
from eosctl.text import time_text

#: Of many findings of one check, so many have a card in a cluster's section.
ALIKE_SHOWN: Final = 20


def fleet_format(output: FindingFormat) -> OutputFormat:
    """Return the format for rows of clusters.

    Raises:
        UsageError: The format shows the findings of one cluster.
    """
    if output.value not in list(OutputFormat):
        raise UsageError(
            f"-o {output.value} shows one cluster, and --profile names several.",
            f"Several clusters have these formats: {', '.join(OutputFormat)}, html.",
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

_SINCE: Final[tuple[Column[ClusterRow], ...]] = (
    Column("NEW", lambda row: "-" if row.last_at_ms is None else str(sum(bool(one.is_new) for one in row.findings))),
    Column("GONE", lambda row: "-" if row.last_at_ms is None else str(len(row.gone))),
)


def fleet_columns(*, since_last: bool) -> tuple[Column[ClusterRow], ...]:
    """Return the columns, with the numbers of new and gone findings if the runs were compared."""
    return (*FLEET_COLUMNS[:-1], *_SINCE, FLEET_COLUMNS[-1]) if since_last else FLEET_COLUMNS


def _foremost(row: ClusterRow) -> list[FleetFinding]:
    """Return the findings with a card: of each check the first ones, new ones before others."""
    seen: Counter[str] = Counter()
    chosen = set()
    for at in sorted(range(len(row.findings)), key=lambda at: not row.findings[at].is_new):
        seen[row.findings[at].check_id] += 1
        if seen[row.findings[at].check_id] <= ALIKE_SHOWN:
            chosen.add(at)
    return [one for at, one in enumerate(row.findings) if at in chosen]


def render_fleet(rows: Sequence[ClusterRow], pattern: str, now_ms: int) -> str:
    """Render one page for all clusters: a table, and the findings of each."""
    return render_template(
        "fleet.html.j2",
        rows=rows,
        pattern=pattern,
        generated_at=time_text(now_ms),
        unread=sum(bool(row.failure) for row in rows),
        foremost=_foremost,
        most_gone=ALIKE_SHOWN,
        command=lambda row: shlex.join(("eosctl", "doctor", "--profile", row.profile)),
        time_text=time_text,
        has_since=any(row.last_at_ms is not None for row in rows),
    )
