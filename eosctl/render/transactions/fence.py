"""The plan of a fence and what came of it."""

from __future__ import annotations

import msgspec

from eosctl.model.plan import FenceOutcome, FencePlan
from eosctl.render.envelope import Envelope, envelope
from eosctl.render.formats import OutputFormat
from eosctl.render.one import render_one
from eosctl.render.page import PLAIN, Block, Field, Line, Style, render_page
from eosctl.render.transactions.listing import PartitionItem
from eosctl.render.transactions.plan import HOW


class FenceItem(msgspec.Struct, frozen=True):
    """One fence: what is planned, whether it was carried out and verified, and the official command that does it.

    ``new_producer_id`` and ``new_producer_epoch`` are None before it is carried out. ``application`` is who makes ids
    of this pattern, empty when unknown.
    """

    cluster_id: str
    transactional_id: str
    coordinator_id: int
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    start_time_ms: int | None
    partitions: tuple[PartitionItem, ...]
    application: str
    consequence: str
    warnings: tuple[str, ...]
    official_command: str
    carried_out: bool
    verified: bool
    detail: str
    new_producer_id: int | None
    new_producer_epoch: int | None


class FenceView(Envelope, frozen=True):
    """A fence in its envelope."""

    items: tuple[FenceItem, ...]


def _item(plan: FencePlan, official_command: str, outcome: FenceOutcome | None) -> FenceItem:
    """Shape a plan, with what came of it if it was carried out."""
    transaction = plan.transaction
    return FenceItem(
        cluster_id=plan.cluster_id,
        transactional_id=transaction.transactional_id,
        coordinator_id=transaction.coordinator_id,
        state=transaction.state,
        producer_id=transaction.producer_id,
        producer_epoch=transaction.producer_epoch,
        timeout_ms=plan.timeout_ms,
        start_time_ms=transaction.start_time_ms,
        partitions=tuple(PartitionItem(p.topic, p.partition) for p in transaction.partitions),
        application=plan.application,
        consequence=plan.consequence,
        warnings=plan.warnings,
        official_command=official_command,
        carried_out=outcome is not None,
        verified=outcome is not None and outcome.verified,
        detail="" if outcome is None else outcome.detail,
        new_producer_id=None if outcome is None else outcome.producer_id,
        new_producer_epoch=None if outcome is None else outcome.producer_epoch,
    )


def render_fence(
    plan: FencePlan,
    official: str,
    outcome: FenceOutcome | None,
    now_ms: int,
    output: OutputFormat,
    style: Style = PLAIN,
) -> str:
    """Render the plan of a fence, and its outcome if it was carried out."""
    item = _item(plan, official, outcome)
    view = FenceView(*envelope("fence", "txn fence", now_ms), (item,))
    flags = (str(item.carried_out).lower(), str(item.verified).lower())
    row = [item.transactional_id, str(item.producer_id), str(item.producer_epoch), *flags]
    return render_one(view, output, lambda: [row], lambda: render_page(_blocks(item), style))


def _blocks(item: FenceItem) -> list[Block]:
    title = "DONE: fenced" if item.carried_out else "PLAN: fence one transactional id"
    blocks: list[Block] = [
        Line(f"{title} {item.transactional_id}" if item.carried_out else title, "bold"),
        Field("cluster", item.cluster_id or "unknown"),
        Field("id", item.transactional_id + (f" ({item.application})" if item.application else "")),
        Field("state", f"{item.state}, coordinator broker {item.coordinator_id}"),
        Field("producer", f"id {item.producer_id}, epoch {item.producer_epoch}"),
        Field("timeout", f"{item.timeout_ms} ms, kept as it is"),
        Field("effect", item.consequence),
    ]
    blocks += [Field("warning", warning, "yellow") for warning in item.warnings]
    blocks += [Field("official", item.official_command), Field("", "It sets the timeout anew; Kafka 4.1 and later.")]
    if item.carried_out:
        blocks.append(Field("verified" if item.verified else "not sure", item.detail))
    else:
        blocks.append(Line(f"Nothing was changed.{HOW}", "bold"))
    return blocks
