"""The plan of a change and what came of it."""

from __future__ import annotations

from typing import Final

import msgspec

from eosctl.analysis.wording import count_text, time_text
from eosctl.model.plan import AbortOutcome, AbortPlan
from eosctl.render.formats import OutputFormat
from eosctl.render.machine import render_json, render_tsv, render_yaml
from eosctl.render.page import PLAIN, Block, Field, Line, Style, render_page

SCHEMA: Final = "eosctl.abort"


class AbortItem(msgspec.Struct, frozen=True):
    """One abort: the plan, whether it was carried out, what came of it, and the official command that does the same."""

    plan: AbortPlan
    carried_out: bool
    outcome: AbortOutcome | None
    official_command: str


class AbortView(msgspec.Struct, frozen=True):
    """An abort in its envelope."""

    schema: str
    schema_version: int
    command: str
    generated_at: str
    items: tuple[AbortItem, ...]


def render_abort(item: AbortItem, generated_at_ms: int, output: OutputFormat, style: Style = PLAIN) -> str:
    """Render an abort in any format."""
    view = AbortView(SCHEMA, 1, "txn abort", time_text(generated_at_ms), (item,))
    match output:
        case OutputFormat.JSON:
            return render_json(view)
        case OutputFormat.YAML:
            return render_yaml(view)
        case OutputFormat.TSV:
            plan = item.plan
            verified = "" if item.outcome is None else str(item.outcome.verified).lower()
            return render_tsv(
                [
                    [
                        str(plan.partition),
                        str(plan.producer_id),
                        str(plan.first_offset),
                        str(item.carried_out).lower(),
                        verified,
                    ]
                ]
            )
        case _:
            return render_page(_blocks(item), style)


def _blocks(item: AbortItem) -> list[Block]:
    plan = item.plan
    blocks: list[Block] = [
        Line(
            "PLAN: abort one hanging transaction" if not item.carried_out else "DONE: one ABORT marker written", "bold"
        ),
        Field("cluster", plan.cluster_id or "unknown"),
        Field("partition", f"{plan.partition}, leader broker {plan.leader_id}"),
        Field("producer", f"id {plan.producer_id}, epoch {plan.producer_epoch}"),
        Field("marker", f"ABORT, coordinator epoch {plan.coordinator_epoch} (as the leader reports it)"),
        Field("since", f"offset {plan.first_offset}; last stable offset {_offset(plan.last_stable_offset)}"),
        Field("cause", f"{plan.cause}: {plan.explanation}"),
    ]
    if plan.invisible_records is not None:
        blocks.append(Field("frees", f"{count_text(plan.invisible_records, 'record')} for read_committed readers"))
    blocks += [Field("warning", warning, "yellow") for warning in plan.warnings]
    blocks.append(Field("official", item.official_command))
    if item.outcome is None:
        blocks.append(Line("Nothing was changed. Carry it out with --yes.", "bold"))
        return blocks
    outcome = item.outcome
    before, after = _offset(outcome.last_stable_offset_before), _offset(outcome.last_stable_offset_after)
    blocks.append(Field("verified" if outcome.verified else "not sure", outcome.detail))
    blocks.append(Field("LSO", f"{before} -> {after}"))
    return blocks


def _offset(offset: int | None) -> str:
    return "unknown" if offset is None else str(offset)
