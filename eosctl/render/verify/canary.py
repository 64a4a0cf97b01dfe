"""What a canary has counted, for people."""

from __future__ import annotations

from eosctl.model.verification import CanaryItem
from eosctl.render.page import Block, Line
from eosctl.render.verify.run import anomaly_blocks
from eosctl.text import count_text


def canary_blocks(item: CanaryItem) -> list[Block]:
    """Show the verdict, the numbers, and each anomaly with its witness."""
    outcomes = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(item.outcomes.items()))
    latency = f"{item.p50_ms:,.0f} ms (P50), {item.p99_ms:,.0f} ms (P99), {item.max_ms:,.0f} ms at most"
    ended = f"transactions {outcomes}" if outcomes else "and no transaction ended: let it run longer (--duration)"
    return [
        Line(f"{item.verdict}: {count_text(item.round_count, 'round')}, {ended}"),
        *([Line(f"visible after {latency}")] if outcomes else ()),
        *anomaly_blocks(item.anomalies, item.anomaly_counts),
    ]
