"""The plan of a change and what came of it."""

from __future__ import annotations

from typing import Final

import msgspec

from eosctl.model.plan import MarkerOutcome, MarkerPlan
from eosctl.model.verdict import Evidence
from eosctl.render.envelope import Envelope, envelope
from eosctl.render.formats import OutputFormat
from eosctl.render.one import render_one
from eosctl.render.page import PLAIN, Block, Field, Line, Style, render_page
from eosctl.text import hidden_text

#: How a plan is carried out by a command that asks nothing.
HOW: Final = " Carry it out with --yes."


class MarkerItem(msgspec.Struct, frozen=True):
    """One marker: what is planned, whether it was carried out and verified, and the official command that does it.

    ``marker`` is ABORT or COMMIT; ``official_command`` is empty where Kafka's tools have none. Offsets are None where
    they are not known. ``invisible_offsets`` and the ``invisible_records`` among them end to be out of read_committed
    readers' sight.
    """

    cluster_id: str
    marker: str
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
    evidence: tuple[Evidence, ...]
    warnings: tuple[str, ...]
    official_command: str
    carried_out: bool
    verified: bool
    detail: str
    last_stable_offset_before: int | None
    last_stable_offset_after: int | None


def _item(plan: MarkerPlan, official_command: str, outcome: MarkerOutcome | None) -> MarkerItem:
    """Shape a plan, with what came of it if it was carried out."""
    return MarkerItem(
        cluster_id=plan.cluster_id,
        marker=_marker(plan.committed),
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
        evidence=plan.evidence,
        warnings=plan.warnings,
        official_command=official_command,
        carried_out=outcome is not None,
        verified=outcome is not None and outcome.verified,
        detail="" if outcome is None else outcome.detail,
        last_stable_offset_before=plan.last_stable_offset if outcome is None else outcome.last_stable_offset_before,
        last_stable_offset_after=None if outcome is None else outcome.last_stable_offset_after,
    )


class MarkerView(Envelope, frozen=True):
    """A marker in its envelope; ``schema`` names the command that writes it."""

    items: tuple[MarkerItem, ...]


def render_marker(
    command: str,
    plan: MarkerPlan,
    official: str,
    outcome: MarkerOutcome | None,
    now_ms: int,
    output: OutputFormat,
    style: Style = PLAIN,
) -> str:
    """Render the plan of ``txn abort`` or ``txn complete``, and its outcome if it was carried out."""
    item = _item(plan, official, outcome)
    view = MarkerView(*envelope(command.removeprefix("txn "), command, now_ms), (item,))
    flags = (str(item.carried_out).lower(), str(item.verified).lower())
    row = [_name(item), str(item.producer_id), str(item.first_offset), *flags]
    return render_one(view, output, lambda: [row], lambda: render_page(_blocks(item), style))


def _marker(committed: bool) -> str:
    return "COMMIT" if committed else "ABORT"


def _name(item: MarkerItem) -> str:
    return f"{item.topic}-{item.partition}"


def _blocks(item: MarkerItem) -> list[Block]:
    verb = "complete one committed" if item.marker == _marker(committed=True) else "abort one hanging"
    title = f"DONE: one {item.marker} marker written" if item.carried_out else f"PLAN: {verb} transaction"
    before, after = _offset(item.last_stable_offset_before), _offset(item.last_stable_offset_after)
    blocks: list[Block] = [
        Line(title, "bold"),
        Field("cluster", item.cluster_id or "unknown"),
        Field("partition", f"{_name(item)}, leader broker {item.leader_id}"),
        Field("producer", f"id {item.producer_id}, epoch {item.producer_epoch}"),
        Field("marker", f"{item.marker}, coordinator epoch {item.coordinator_epoch} (as the leader reports it)"),
        Field("since", f"offset {item.first_offset}; last stable offset {before}"),
        Field("cause", f"{item.cause}: {item.explanation}"),
    ]
    if item.invisible_offsets is not None:
        hidden = hidden_text(item.invisible_offsets, item.invisible_records)
        blocks.append(Field("frees", f"{hidden} for read_committed readers"))
    blocks += [Field("warning", warning, "yellow") for warning in item.warnings]
    blocks += [Field("proof", f"{fact.name}: {fact.value} ({fact.source})") for fact in item.evidence]
    if item.official_command:
        blocks.append(Field("official", item.official_command))
    if item.carried_out:
        blocks.append(Field("verified" if item.verified else "not sure", item.detail))
        blocks.append(Field("LSO", f"{before} -> {after}"))
    else:
        blocks.append(Line(f"Nothing was changed.{HOW}", "bold"))
    return blocks


def before_question(page: str) -> str:
    """Return the page of a plan for a dialog, which asks whether to carry it out."""
    return page.replace(HOW, "").rstrip()


def _offset(offset: int | None) -> str:
    return "unknown" if offset is None else str(offset)
