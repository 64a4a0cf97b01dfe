"""The syntax of faults, shared by the command line, scenario files, and tests.

A fault is its kind and parameters, `pause node=2 for=5s` or `delay from=clients api=END_TXN ms=500 count=1`. Every
fault accepts `for=DURATION`, after which it ends automatically. `eosctl.sandbox.faults.kinds` lists the kinds.

Links are named by their ends: a node id or `clients`. Between nodes, each frame is affected individually. A client's
stream keeps its order, as TCP does; see `eosctl.sandbox.broker.client_stream`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Final

from eosctl.errors import UsageError, unknown_name
from eosctl.sandbox.faults.kinds import MEANINGS, NEEDED, RENAMED, SETTINGS, FaultKind, Moment, Side
from eosctl.sandbox.network import CLIENTS
from eosctl.wire.api_keys import ApiKey

ANY_NODE: Final = -2
"""`node=any`: a running broker, chosen by the engine's seed."""


@dataclass(frozen=True, slots=True)
class FaultOrder:
    """A fault to inject.

    Attributes:
        kind: The kind of fault.
        node: The affected node; None for all.
        other: The other end of a cut link.
        nodes: The smaller side of a network partition.
        source: The sender of the affected frames.
        destination: The receiver of the affected frames.
        api: Affect only frames of this API.
        side: Affect only requests or only responses.
        skip: Number of frames that pass first.
        count: Number of affected frames; None for all.
        chance: Probability that a frame is affected, 0 to 1.
        ms: Duration in milliseconds of a delay, a load, or a skew (may be negative).
        lose: Maximum number of unflushed batches that each log of a killed broker loses.
        torn: Whether half of the first lost batch remains.
        directory: The log directory, from 1.
        group: The group with the affected coordinator.
        transactional_id: The transactional id with the affected coordinator.
        to: The new coordinator; None for the next replica.
        when: The time of a late materialization.
        name: The bug.
        on: Whether the bug is enabled.
        for_ms: Duration after which the fault ends automatically; None for no limit.
    """

    kind: FaultKind
    node: int | None = None
    other: int | None = None
    nodes: tuple[int, ...] = ()
    source: int | None = None
    destination: int | None = None
    api: ApiKey | None = None
    side: Side | None = None
    skip: int = 0
    count: int | None = None
    chance: float = 1.0
    ms: float = 0.0
    lose: int = 0
    torn: bool = False
    directory: int = 1
    group: str = ""
    transactional_id: str = ""
    to: int | None = None
    when: Moment = Moment.LATER
    name: str = ""
    on: bool = True
    for_ms: float | None = None

    def __str__(self) -> str:
        words = [str(self.kind)]
        for each in fields(self)[1:]:
            value = getattr(self, each.name)
            if value != each.default:
                words.append(f"{_WORD_OF.get(each.name, each.name.replace('_', '-'))}={_render(each.name, value)}")
        return " ".join(words)


_FIELD_OF: Final = {"from": "source", "to-node": "destination", "for": "for_ms", "transactional-id": "transactional_id"}
_WORD_OF: Final = {"source": "from", "destination": "to", "for_ms": "for"}
_CLIENT_APIS: Final = frozenset(
    {
        ApiKey.PRODUCE,
        ApiKey.LIST_OFFSETS,
        ApiKey.METADATA,
        ApiKey.OFFSET_COMMIT,
        ApiKey.OFFSET_FETCH,
        ApiKey.FIND_COORDINATOR,
        ApiKey.JOIN_GROUP,
        ApiKey.HEARTBEAT,
        ApiKey.LEAVE_GROUP,
        ApiKey.SYNC_GROUP,
        ApiKey.INIT_PRODUCER_ID,
        ApiKey.ADD_OFFSETS_TO_TXN,
        ApiKey.END_TXN,
        ApiKey.TXN_OFFSET_COMMIT,
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
    }
)
_UNITS_MS: Final = {"": 1.0, "ms": 1.0, "s": 1_000.0, "m": 60_000.0, "h": 3_600_000.0}


def parse_order(words: Iterable[str] | str) -> FaultOrder:
    """Parse a fault, e.g. `pause node=2 for=5s` or `pause 2 for=5s`; the required parameter needs no name.

    Raises:
        UsageError: The kind or a parameter is unknown, a parameter is missing, or a value is invalid.
    """
    first, *others = (words.split() if isinstance(words, str) else [*words]) or [""]
    kind_word, *rest = [*(first.split() or [""]), *others]  # A whole fault may be one quoted argument.
    kind = _kind_of(kind_word)
    settings: dict[str, str] = {}
    for at, word in enumerate(rest):
        name, equals, value = word.partition("=")
        if not equals and at == 0 and kind in NEEDED:
            name, value = NEEDED[kind][0], word
        elif not equals:
            raise UsageError(f"{word!r} is not NAME=VALUE.", "A fault is its kind and settings.", _shape_of(kind))
        if name in settings:
            raise UsageError(
                f"{name}= is there twice.", f"{settings[name]} and {value} cannot both be meant.", "Choose one."
            )
        settings[name] = value
    return read_order(kind, settings)


def read_order(kind_word: str, settings: Mapping[str, object]) -> FaultOrder:
    """Create a fault from its kind and parameters, as a scenario file contains them.

    Raises:
        UsageError: As for `parse_order`.
    """
    kind = _kind_of(kind_word)
    allowed = (*SETTINGS[kind], "for")
    values: dict[str, object] = {}
    for name, value in settings.items():
        if name not in allowed:
            raise UsageError(
                f"The fault {kind} has no setting {name!r}.", f"It has: {', '.join(allowed)}.", "Correct it."
            )
        field = _field_of(kind, name)
        values[field] = _parse(field, name, str(value))
        is_span = name == "for" or (name == "ms" and kind is not FaultKind.SKEW)
        if is_span and float(str(values[field])) < 0:
            raise UsageError(f"{name}={value} is negative.", "Only the ms= of skew may be.", "Correct it.")
    missing = [name for name in NEEDED.get(kind, ()) if _field_of(kind, name) not in values]
    if missing:
        raise UsageError(f"The fault {kind} needs {missing[0]}=.", MEANINGS[kind].capitalize() + ".", _shape_of(kind))
    if kind in _OF_A_COORDINATOR and len({"group", "transactional_id"} & set(values)) != 1:
        raise UsageError("A coordinator is that of a group or of a transactional id.", "", "Name one of them.")
    return _with_ends(FaultOrder(kind, **values))  # type: ignore[arg-type]


def _kind_of(word: str) -> FaultKind:
    try:
        return RENAMED.get(word) or FaultKind(word)
    except ValueError:
        raise unknown_name(
            "fault", word, FaultKind, "List them: eosctl sandbox fault --kinds; eosctl sandbox heal ends what lasts"
        ) from None


def _with_ends(order: FaultOrder) -> FaultOrder:
    """Default the source to clients for client requests, and reject effects that a stream cannot have."""
    if order.source is None and order.kind in _LINK_KINDS and order.api in _CLIENT_APIS:
        order = replace(order, source=CLIENTS)
    is_answer = order.side is Side.ANSWERS
    if CLIENTS in (order.source, order.destination) and is_answer and order.kind in _REQUESTS_ONLY:
        raise UsageError(
            f"Answers to clients cannot be hit by {order.kind}.", "A stream keeps its order.", "Use delay."
        )
    if order.source is None and order.destination == CLIENTS:
        order = replace(order, side=Side.ANSWERS)
    return order


_OF_A_COORDINATOR: Final = (FaultKind.MOVE_COORDINATOR, FaultKind.UNLOAD_COORDINATOR)
_LINK_KINDS: Final = (FaultKind.DELAY, FaultKind.DROP, FaultKind.DUPLICATE, FaultKind.REORDER)
_REQUESTS_ONLY: Final = (FaultKind.DUPLICATE, FaultKind.REORDER)


def _field_of(kind: FaultKind, name: str) -> str:
    if name == "to" and kind is not FaultKind.MOVE_COORDINATOR:
        return "destination"
    return _FIELD_OF.get(name, name)


def _shape_of(kind: FaultKind) -> str:
    needed = NEEDED.get(kind, ())
    shown = [f"{name}=" if name in needed else f"[{name}=]" for name in (*SETTINGS[kind], "for")]
    return f"Write: {kind} {' '.join(shown)}"


def _parse(field: str, name: str, text: str) -> object:
    try:
        return _read(field, text)
    except (ValueError, KeyError):
        raise UsageError(f"{name}={text} is not a value of {name}.", _EXPECTED.get(field, ""), "Correct it.") from None


def _read(field: str, text: str) -> object:
    match field:
        case "node" | "source" | "destination" | "other" | "to":
            return _end(text)
        case "nodes":
            return tuple(map(_node, text.split(",")))
        case "skip" | "count" | "lose" | "directory":
            return _positive(int(text))
        case "chance":
            return _within_one(float(text))
        case "ms" | "for_ms":
            return parse_ms(text)
        case "torn" | "on":
            return {"true": True, "on": True, "false": False, "off": False}[text.lower()]
        case "api":
            return _api(text)
        case "side":
            return Side(text)
        case "when":
            return Moment(text)
        case _:
            return text


_EXPECTED: Final = {
    "node": "A node is its id (2 or broker-2), or any.",
    "source": "An end of a link is a node id or clients.",
    "destination": "An end of a link is a node id or clients.",
    "other": "An end of a link is a node id or clients.",
    "chance": "A probability is between 0 and 1.",
    "ms": "A time is a number of ms, or has a unit: 200ms, 5s, 2m.",
    "for_ms": "A time is a number of ms, or has a unit: 200ms, 5s, 2m.",
    "api": "An API has Kafka's name or key: END_TXN, EndTxn or 26.",
    "side": "One of requests, answers.",
    "when": f"One of {', '.join(Moment)}.",
    "torn": "One of true, false.",
    "on": "One of true, false.",
}


def parse_ms(text: str) -> float:
    """Parse a duration in milliseconds: `250`, `250ms`, `5s`, `-2m`.

    Raises:
        ValueError: The text is not a duration.
    """
    found = re.fullmatch(r"(-?\d+(?:\.\d+)?)\s*(ms|s|m|h|)", text.strip())
    if found is None:
        raise ValueError(text)
    return float(found[1]) * _UNITS_MS[found[2]]


def _end(text: str) -> int:
    return {"clients": CLIENTS, "any": ANY_NODE}.get(text) or _node(text)


def _node(text: str) -> int:
    """Return a node's id, which may follow its role, as in the names of its logs: `broker-2`."""
    role, dash, number = text.rpartition("-")
    if dash and role not in ("broker", "controller", "node"):
        raise ValueError(text)
    return _positive(int(number))


def _api(text: str) -> ApiKey:
    if text.isdigit():
        return ApiKey(int(text))
    return {each.name.replace("_", ""): each for each in ApiKey}[text.upper().replace("_", "").replace("-", "")]


def _positive(number: int) -> int:
    if number < 0:
        raise ValueError(number)
    return number


def _within_one(number: float) -> float:
    if not 0 < number <= 1:
        raise ValueError(number)
    return number


def _render(field: str, value: object) -> str:
    if field in ("node", "source", "destination", "other", "to"):
        return {CLIENTS: "clients", ANY_NODE: "any"}.get(int(str(value)), str(value))
    if field == "nodes" and isinstance(value, tuple):
        return ",".join(map(str, value))
    if isinstance(value, ApiKey):
        return value.name
    if isinstance(value, bool):
        return str(value).lower()
    # A small number keeps its form as in 0.3; :g alone writes a million as 1e+06, which no setting reads.
    return f"{value:.15g}" if isinstance(value, float) else str(value)
