"""What a canary has counted, for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eosctl.render.page import Block, Line
from eosctl.render.verify.items import anomaly_item
from eosctl.render.verify.run import anomaly_blocks

if TYPE_CHECKING:
    from eosctl.lab.history.anomaly import Anomaly
    from eosctl.lab.verify.canary import CanaryNumbers


def canary_blocks(verdict: str, numbers: CanaryNumbers, anomalies: Sequence[Anomaly]) -> list[Block]:
    """Show the verdict, the numbers, and each anomaly with its witness."""
    seen = numbers.visible.percentiles()
    outcomes = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(numbers.outcomes.items())) or "nothing"
    return [
        Line(f"{verdict}: {numbers.round_count:,} rounds, transactions {outcomes}"),
        Line(f"visible after {seen.p50_ms:,.0f} ms (P50), {seen.p99_ms:,.0f} ms (P99), {seen.max_ms:,.0f} ms at most"),
        *anomaly_blocks(tuple(map(anomaly_item, anomalies)), numbers.anomalies),
    ]
