"""Scenarios as rows and pages, and the verdict of one that was played."""

from __future__ import annotations

from typing import Final

from eosctl.model.scenario import ScenarioItem, VerdictItem
from eosctl.render.listing import Column
from eosctl.render.page import PLAIN, Block, Field, Grid, Line, Style, render_page

SCENARIO_COLUMNS: Final[tuple[Column[ScenarioItem], ...]] = (
    Column("NAME", lambda item: item.name),
    Column("REAL-KAFKA", lambda item: "no" if item.inner else "yes"),
    Column("TITLE", lambda item: item.title),
    Column("FINDINGS", lambda item: ",".join(item.expected_findings), wide=True),
    Column("HAPPENS", lambda item: item.happens, wide=True),
    Column("MATTERS", lambda item: item.matters, wide=True),
)

VERDICT_COLUMNS: Final[tuple[Column[VerdictItem], ...]] = (
    Column("SCENARIO", lambda item: item.scenario),
    Column("PLACE", lambda item: item.place),
    Column("AS-EXPECTED", lambda item: "yes" if item.holds else "no"),
)


def render_scenario(item: ScenarioItem, style: Style = PLAIN) -> str:
    """Describe a scenario: the fault, its importance, its symptoms, and every step."""
    real = f"no: {item.inner}" if item.inner else f"yes: eosctl sandbox scenario run {item.name} --engine apache"
    blocks: list[Block] = [
        Line(f"{item.name}: {item.title}", "bold"),
        Field("happens", item.happens),
        Field("matters", item.matters),
        Field("seen", item.sees),
        Field(
            "cluster", ", ".join(f"{key} {value}" for key, value in item.cluster.items() if value not in ({}, [], None))
        ),
        Field("real", real),
        Field("findings", ", ".join(item.expected_findings) or "none"),
        Field("none of", ", ".join(item.unexpected_findings) or "-"),
        Line("Steps"),
        *(Line(f"  {number}. {step}") for number, step in enumerate(item.steps, 1)),
        Line(f"Play it: eosctl sandbox scenario run {item.name}"),
    ]
    return render_page(blocks, style)


def render_verdict(item: VerdictItem, connection: str = "", style: Style = PLAIN) -> str:
    """Show the steps, expectations, observations, the verdict, and how to diagnose a cluster that still runs.

    Args:
        item: The verdict.
        connection: The options with which eosctl reaches the cluster; empty when it is gone.
        style: How to print.
    """
    rows = tuple(
        (one.what, one.expected, one.seen if one.holds else f"{one.seen}  <- NOT") for one in item.expectations
    )
    wrong = sum(not one.holds for one in item.expectations)
    verdict = (
        Line(f"As expected: {len(rows)} of {len(rows)}.", "green")
        if item.holds
        else Line(f"NOT as expected: {wrong} of {len(rows)}.", "red")
    )
    blocks: list[Block] = [
        Line(f"{item.scenario} on {item.place}", "bold"),
        *(Line(f"  {number}. {step}") for number, step in enumerate(item.steps, 1)),
        Grid(rows, ("WHAT", "EXPECTED", "SEEN")),
        verdict,
        *([Line(f"Next: eosctl doctor {connection}")] if connection else []),
    ]
    return render_page(blocks, style)
