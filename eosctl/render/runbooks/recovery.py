"""What a mirror carries over, for people and for machines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from eosctl.findings.finding import Finding
from eosctl.model.recovery import Carried, Fate
from eosctl.render.listing import Column
from eosctl.render.page import Block, Field, Line

_TONES: Final = {Fate.WRONG: "bold red", Fate.LOST: "yellow", Fate.PARTLY: "yellow", Fate.CARRIED: ""}


class CarriedItem(msgspec.Struct, frozen=True):
    """One thing on one flow; ``check`` is the rule that found it, empty when none did."""

    flow: str
    what: str
    fate: str
    detail: str
    remedy: str
    place: str
    check: str = ""


CARRIED_COLUMNS: Final = (
    Column[CarriedItem]("FLOW", lambda item: item.flow),
    Column[CarriedItem]("WHAT", lambda item: item.what),
    Column[CarriedItem]("FATE", lambda item: item.fate),
    Column[CarriedItem]("DETAIL", lambda item: item.detail),
    Column[CarriedItem]("REMEDY", lambda item: item.remedy),
    Column[CarriedItem]("PLACE", lambda item: item.place),
    Column[CarriedItem]("CHECK", lambda item: item.check),
)


def carried_item(carried: Carried) -> CarriedItem:
    """Shape what becomes of one thing."""
    place = str(carried.place) if carried.place is not None else ""
    return CarriedItem(
        flow=carried.flow,
        what=carried.what,
        fate=carried.fate.value,
        detail=carried.detail,
        remedy=carried.remedy,
        place=place,
    )


def finding_item(finding: Finding) -> CarriedItem:
    """Shape a finding of a rule about mirrors."""
    facts = dict(finding.facts)
    remedy = " ".join(finding.remedy)
    place = f"{facts['file']}:{facts['line']}"
    return CarriedItem(
        flow="",
        what=finding.title,
        fate=Fate.WRONG.value,
        detail=finding.message,
        remedy=remedy,
        place=place,
        check=finding.check_id,
    )


def carried_blocks(items: Iterable[CarriedItem]) -> list[Block]:
    """Show a flow after the other, and what rules found behind them."""
    blocks: list[Block] = []
    flow: str | None = None
    for item in items:
        if item.flow != flow:
            blocks += [Line("")] if flow is not None else []
            blocks.append(Line(item.flow or "Found by rules", "bold"))
            flow = item.flow
        blocks.append(Line(f"{item.what}: {item.fate}", _TONES[Fate(item.fate)]))
        blocks.append(Field("because", f"{item.detail} {f'({item.place})' if item.place else ''}".strip()))
        blocks += [Field("do", item.remedy)] if item.remedy else []
    return blocks
