"""The plan of a change and what came of it."""

from __future__ import annotations

from typing import Final

import msgspec

from eosctl.analysis.wording import hidden_text, time_text
from eosctl.model.plan import AbortOutcome, AbortPlan
from eosctl.render.formats import OutputFormat
from eosctl.render.machine import render_json, render_tsv, render_yaml
from eosctl.render.page import PLAIN, Block, Field, Line, Style, render_page

SCHEMA: Final = "eosctl.abort"


class AbortItem(msgspec.Struct, frozen=True):
    """One abort: what is planned, whether it was carried out and verified, and the official command that does it.

    Offsets are None where they are not known. ``invisible_offsets`` and the
    ``invisible_records`` among them end to be out of read_committed readers' sight.
    """

    cluster_id: str
    topic: str
    partition: int
    leader_id: int
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    first_offset: int
    invisible_offsets: int | None
    invisible_records: int | None
    cause: str
    explanation: str
    warnings: tuple[str, ...]
    official_command: str
    carried_out: bool
    verified: bool
    detail: str
    last_stable_offset_before: int | None
    last_stable_offset_after: int | None


def abort_item(plan: AbortPlan, official_command: str, outcome: AbortOutcome | None = None) -> AbortItem:
    """Shape a plan, with what came of it if it was carried out."""
    return AbortItem(
        cluster_id=plan.cluster_id,
        topic=plan.partition.topic,
        partition=plan.partition.partition,
        leader_id=plan.leader_id,
        producer_id=plan.producer_id,
        producer_epoch=plan.producer_epoch,
        coordinator_epoch=plan.coordinator_epoch,
        first_offset=plan.first_offset,
        invisible_offsets=plan.invisible_offsets,
        invisible_records=plan.invisible_records,
        cause=plan.cause,
        explanation=plan.explanation,
        warnings=plan.warnings,
        official_command=official_command,
        carried_out=outcome is not None,
        verified=outcome is not None and outcome.verified,
        detail="" if outcome is None else outcome.detail,
        last_stable_offset_before=plan.last_stable_offset if outcome is None else outcome.last_stable_offset_before,
        last_stable_offset_after=None if outcome is None else outcome.last_stable_offset_after,
    )


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
            flags = (str(item.carried_out).lower(), str(item.verified).lower())
            return render_tsv([[_name(item), str(item.producer_id), str(item.first_offset), *flags]])
        case _:
            return render_page(_blocks(item), style)


def _name(item: AbortItem) -> str:
    return f"{item.topic}-{item.partition}"


def _blocks(item: AbortItem) -> list[Block]:
    title = "DONE: one ABORT marker written" if item.carried_out else "PLAN: abort one hanging transaction"
    before, after = _offset(item.last_stable_offset_before), _offset(item.last_stable_offset_after)
    blocks: list[Block] = [
        Line(title, "bold"),
        Field("cluster", item.cluster_id or "unknown"),
        Field("partition", f"{_name(item)}, leader broker {item.leader_id}"),
        Field("producer", f"id {item.producer_id}, epoch {item.producer_epoch}"),
        Field("marker", f"ABORT, coordinator epoch {item.coordinator_epoch} (as the leader reports it)"),
        Field("since", f"offset {item.first_offset}; last stable offset {before}"),
        Field("cause", f"{item.cause}: {item.explanation}"),
    ]
    if item.invisible_offsets is not None:
        hidden = hidden_text(item.invisible_offsets, item.invisible_records)
        blocks.append(Field("frees", f"{hidden} for read_committed readers"))
    blocks += [Field("warning", warning, "yellow") for warning in item.warnings]
    blocks.append(Field("official", item.official_command))
    if item.carried_out:
        blocks.append(Field("verified" if item.verified else "not sure", item.detail))
        blocks.append(Field("LSO", f"{before} -> {after}"))
    else:
        blocks.append(Line("Nothing was changed. Carry it out with --yes.", "bold"))
    return blocks


def _offset(offset: int | None) -> str:
    return "unknown" if offset is None else str(offset)
