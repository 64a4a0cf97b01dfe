"""The findings on healthy real clusters, each reviewed for truth (``reviewed.yaml``)."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

import yaml

FILE: Final = Path(__file__).with_name("reviewed.yaml")


class ReviewedFinding(NamedTuple):
    """A finding, and why it is true."""

    check_id: str
    severity: str
    reason: str


class ReviewedCluster(NamedTuple):
    """A cluster (release and kind) with all that doctor says of it, by check."""

    cluster: str
    broker_count: int
    findings: tuple[ReviewedFinding, ...]


def read_reviewed() -> tuple[ReviewedCluster, ...]:
    """Return the clusters in the file's order."""
    return tuple(
        ReviewedCluster(
            one["cluster"],
            one["brokers"],
            tuple(sorted(ReviewedFinding(f["id"], f["severity"], f["true_because"]) for f in one["findings"])),
        )
        for one in yaml.safe_load(FILE.read_text("utf-8"))
    )
