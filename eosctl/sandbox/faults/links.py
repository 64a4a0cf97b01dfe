"""Network faults: the frames that a fault order affects."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Final

from eosctl.sandbox.faults.kinds import FaultKind, Side
from eosctl.sandbox.faults.order import FaultOrder
from eosctl.sandbox.network import CLIENTS, FaultAction, LinkFault
from eosctl.wire.api_keys import ApiKey

_ACTIONS: Final = {
    FaultKind.DELAY: FaultAction.DELAY,
    FaultKind.DROP: FaultAction.DROP,
    FaultKind.DUPLICATE: FaultAction.DUPLICATE,
    FaultKind.REORDER: FaultAction.REORDER,
    FaultKind.DISCONNECT: FaultAction.DISCONNECT,
}
_LATE: Final = {
    FaultKind.LATE_MARKERS: (None, ApiKey.WRITE_TXN_MARKERS),
    FaultKind.LATE_END_TXN: (CLIENTS, ApiKey.END_TXN),
    FaultKind.LATE_PRODUCE: (CLIENTS, ApiKey.PRODUCE),
    FaultKind.LATE_OFFSET_COMMIT: (CLIENTS, ApiKey.TXN_OFFSET_COMMIT),
}


def link_faults(order: FaultOrder, node_ids: Sequence[int], chance: random.Random) -> tuple[LinkFault, ...]:
    """Return the faults on links and clients' streams for an order; none for other kinds."""
    match order.kind:
        case FaultKind.CUT if order.node is not None:
            return tuple(_cut(order.node, [order.other]))
        case FaultKind.PARTITION:
            others = [node for node in node_ids if node not in order.nodes]
            return tuple(fault for node in order.nodes for fault in _cut(node, others))
        case FaultKind.SLOW:
            return tuple(_delays(order, ((None, None), (CLIENTS, None)), Side.REQUESTS))
        case FaultKind.SLOW_DISK:
            return (
                *_delays(order, ((None, ApiKey.WRITE_TXN_MARKERS), (CLIENTS, ApiKey.PRODUCE)), Side.REQUESTS),
                *_delays(order, ((None, ApiKey.FETCH),), Side.ANSWERS),
            )
        case kind if kind in _LATE:
            source, api = _LATE[kind]
            return (_fault(order, FaultAction.DELAY, source, order.destination, api, Side.REQUESTS, chance),)
        case FaultKind.DISCONNECT:
            answers = order.side is Side.ANSWERS
            source, destination = (order.node, CLIENTS) if answers else (CLIENTS, order.node)
            return (_fault(order, FaultAction.DISCONNECT, source, destination, order.api, order.side, chance),)
        case FaultKind.DELAY | FaultKind.DROP | FaultKind.DUPLICATE | FaultKind.REORDER:
            source, destination, side = order.source, order.destination, order.side
            if CLIENTS in (source, destination):
                side = side or Side.REQUESTS
                node = destination if source == CLIENTS else source
                source, destination = (CLIENTS, node) if side is Side.REQUESTS else (node, CLIENTS)
            return (_fault(order, _ACTIONS[order.kind], source, destination, order.api, side, chance),)
    return ()


def is_of_clients(fault: LinkFault) -> bool:
    """Return whether a fault affects the streams of clients."""
    return CLIENTS in (fault.source, fault.destination)


def node_of_stream(fault: LinkFault) -> int | None:
    """Return the broker whose clients a fault affects; None for all brokers."""
    return fault.destination if fault.source == CLIENTS else fault.source


def _cut(node: int, others: Iterable[int | None]) -> list[LinkFault]:
    return [
        LinkFault(FaultAction.DROP, source=source, destination=destination)
        for other in others
        for source, destination in ((node, other), (other, node))
    ]


def _delays(order: FaultOrder, hit: Iterable[tuple[int | None, ApiKey | None]], side: Side) -> list[LinkFault]:
    return [
        LinkFault(
            FaultAction.DELAY,
            source=source,
            destination=order.node,
            api_key=api,
            requests=side is Side.REQUESTS,
            delay_ms=order.ms,
        )
        for source, api in hit
    ]


def _fault(
    order: FaultOrder,
    action: FaultAction,
    source: int | None,
    destination: int | None,
    api: ApiKey | None,
    side: Side | None,
    chance: random.Random,
) -> LinkFault:
    return LinkFault(
        action,
        source=source,
        destination=destination,
        api_key=api,
        requests=None if side is None else side is Side.REQUESTS,
        skip=order.skip,
        count=order.count,
        delay_ms=order.ms,
        probability=order.chance,
        chance=chance,
    )
