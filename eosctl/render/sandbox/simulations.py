"""What came of simulated fault schedules."""

from __future__ import annotations

from eosctl.model.fault_simulation import FailedSeed, FaultSimulation
from eosctl.render.page import PLAIN, Block, Field, Grid, Line, Style, render_page
from eosctl.text import count_text


def render_simulations(item: FaultSimulation, replay: str, style: Style = PLAIN) -> str:
    """Show the number of passed schedules, and each failed one; ``replay`` is the command without its seed."""
    last = item.first_seed + item.seed_count - 1
    verdict = f"{len(item.failures)} of them failed" if item.failures else "none failed"
    tone = "bold red" if item.failures else "bold green"
    blocks: list[Block] = [
        Line(f"{count_text(item.seed_count, 'fault schedule')} (seeds {item.first_seed} to {last}): {verdict}", tone),
        Field("cluster", f"Kafka {item.emulate}, {item.clients} clients, plan {item.plan}"),
        Field("bugs", ", ".join(name for name, on in item.bugs.items() if on) or "none"),
        Field("history", f"{count_text(item.event_count, 'event')} over {item.virtual_s:,.0f} s of virtual time"),
        Field(
            "speed",
            f"{item.schedules_per_minute:,.0f} schedules a minute, "
            f"{item.schedules_per_cpu_minute:,.0f} in a minute of one core",
        ),
    ]
    if any(item.faults.values()):
        blocks.append(Grid(tuple((kind, str(count)) for kind, count in item.faults.items() if count), indent=2))
    for failure in item.failures:
        blocks += _failure(failure, replay)
    return render_page(blocks, style)


def _failure(failure: FailedSeed, replay: str) -> list[Block]:
    blocks: list[Block] = [Line(f"Seed {failure.seed}: {', '.join(failure.symptoms)}", "bold")]
    if failure.stuck:
        blocks.append(Field("stuck", failure.stuck))
    blocks += [Field("crash", crash) for crash in failure.crashes[:3]]
    faults = failure.minimised or ("none: it fails without any",)
    blocks += [Field("faults" if not number else "", fault) for number, fault in enumerate(faults)]
    if len(failure.minimised) < len(failure.schedule):
        blocks.append(Field("", f"(the smallest part of {len(failure.schedule)} that still fails)"))
    for anomaly in failure.anomalies:
        blocks.append(Field("anomaly", f"{anomaly.kind}: {anomaly.subject}"))
        blocks.append(Field("", f"({anomaly.meaning})"))
        blocks += [Field("", f"- {event}") for event in anomaly.witness]
    blocks += [Field("goes well", f"with {option}") for option in failure.passes_with]
    blocks.append(Field("replay", f"{replay} --first-seed {failure.seed} --seeds 1"))
    return blocks
