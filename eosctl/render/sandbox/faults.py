"""Faults of a sandbox as rows: what lasts, what has happened, and what there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from eosctl.render.listing import Column
from eosctl.render.page import PLAIN, Block, Field, Grid, Line, Style, render_page
from eosctl.text import count_text


class FaultItem(msgspec.Struct, frozen=True):
    """A fault that lasts: ``hit_count`` is how many frames it has hit so far."""

    number: int
    fault: str
    began_ms: int
    hit_count: int
    what: str = ""


class FaultEventItem(msgspec.Struct, frozen=True):
    """An entry of the record of faults; ``at_ms`` is by the cluster's clock."""

    at_ms: int
    number: int
    what: str
    order: str


class FaultKindItem(msgspec.Struct, frozen=True):
    """A kind of fault, the settings that it takes, and the ones that it needs."""

    kind: str
    meaning: str
    settings: tuple[str, ...]
    needed: tuple[str, ...]


class FaultsItem(msgspec.Struct, frozen=True):
    """The faults of one sandbox; ``bugs`` are the known bugs that its brokers have or lack."""

    sandbox: str
    active: tuple[FaultItem, ...]
    events: tuple[FaultEventItem, ...]
    bugs: dict[str, bool]


KIND_COLUMNS: Final[tuple[Column[FaultKindItem], ...]] = (
    Column("FAULT", lambda item: item.kind),
    Column("SETTINGS", lambda item: " ".join(_shown(name, item.needed) for name in item.settings)),
    Column("MEANING", lambda item: item.meaning),
)

FAULT_COLUMNS: Final[tuple[Column[FaultsItem], ...]] = (
    Column("SANDBOX", lambda item: item.sandbox),
    Column("ACTIVE", lambda item: "; ".join(f"{fault.number} {fault.fault}" for fault in item.active)),
    Column("BUGS", lambda item: ",".join(name for name, on in item.bugs.items() if on)),
)


def _shown(name: str, needed: Sequence[str]) -> str:
    return f"{name}=" if name in needed else f"[{name}=]"


def faults_item(name: str, reported: dict[str, Any], injected: dict[str, Any]) -> FaultsItem:
    """Shape the faults that a process reports; ``injected`` is the one that was just injected, or empty."""
    whats = {injected["number"]: injected["what"]} if injected else {}
    return FaultsItem(
        sandbox=name,
        active=tuple(FaultItem(**active, what=whats.get(active["number"], "")) for active in reported["active"]),
        events=tuple(FaultEventItem(**event) for event in reported["events"]),
        bugs=reported["bugs"],
    )


def injected_text(item: FaultsItem, injected: dict[str, Any], target: str) -> str:
    """Write what was injected, and how to end it where it lasts; ``target`` is the option that names the sandbox."""
    number = injected["number"]
    lasts = any(fault.number == number for fault in item.active)
    end = f"; end it: eosctl sandbox fault --end {number}{target}" if lasts else ""
    return f"Fault {number}: {injected['fault']}: {injected['what']}{end}\n"


def render_faults(item: FaultsItem, style: Style = PLAIN) -> str:
    """Return the active faults, the past faults, and the bugs of the brokers."""
    blocks: list[Block] = [Line(f"Sandbox {item.sandbox}: {count_text(len(item.active), 'active fault')}", "bold")]
    if item.active:
        rows = tuple((str(fault.number), fault.fault, str(fault.hit_count)) for fault in item.active)
        blocks.append(Grid(rows, ("NUMBER", "FAULT", "FRAMES-HIT")))
    if item.events:
        blocks.append(Line("What happened"))
        blocks += [Line(f"  {event.at_ms / 1000:.3f} s  {event.order}: {event.what}") for event in item.events[-20:]]
    blocks += [Field("bug", f"{name} {'on' if on else 'off'}") for name, on in item.bugs.items()]
    blocks.append(Line("Kinds of faults: eosctl sandbox fault --kinds"))
    return render_page(blocks, style)
