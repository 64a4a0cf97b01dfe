"""Producer ids from blocks of the controller (KIP-730, Kafka's `RPCProducerIdManager`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from eosctl.sandbox.ports import Channel, Runtime
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.allocate_producer_ids import AllocateProducerIdsRequest

PREFETCH_THRESHOLD: Final = 0.9
"""The next block is requested when this share of the current one is used."""
RETRY_BACKOFF_MS: Final = 50


class ProducerIdManager:
    """Assigns producer ids from blocks without waiting; an exhausted block means no id now."""

    def __init__(self, *, node_id: int, runtime: Runtime, channel: Channel, broker_epoch: Callable[[], int]) -> None:
        self._node_id = node_id
        self._runtime = runtime
        self._channel = channel
        self._broker_epoch = broker_epoch
        self._next_id = 0
        self._end = 0
        self._prefetch_at = 0
        self._next_block: tuple[int, int] | None = None
        self._is_allocating = False
        self._is_withheld = False

    def start(self) -> None:
        """Request the first block, after the broker is registered."""
        self._request_block()

    def next_id(self) -> int | None:
        """Return an unused id, or None while the next block is in transit (clients get error 14)."""
        if self._next_id >= self._end and not self._take_next_block():
            self._request_block()
            return None
        producer_id = self._next_id
        self._next_id += 1
        if self._next_id >= self._prefetch_at and self._next_block is None:
            self._request_block()
        return producer_id

    def withhold(self) -> None:
        """Discard all ids, and request no more until `release`."""
        self._is_withheld = True
        self._next_id = self._end = 0
        self._next_block = None

    def release(self) -> None:
        """Request ids again."""
        self._is_withheld = False
        self._request_block()

    def _take_next_block(self) -> bool:
        if self._next_block is None:
            return False
        first, length = self._next_block
        self._next_block = None
        self._next_id, self._end = first, first + length
        self._prefetch_at = first + int(length * PREFETCH_THRESHOLD)
        return True

    def _request_block(self) -> None:
        if self._is_allocating or self._is_withheld or self._next_block is not None:
            return
        self._is_allocating = True
        self._channel.send_to_controller(
            ApiKey.ALLOCATE_PRODUCER_IDS,
            0,
            AllocateProducerIdsRequest(self._node_id, self._broker_epoch()),
            self._answered,
        )

    def _answered(self, response: Any | None) -> None:
        if response is None or response.error_code != ErrorCode.NONE:
            self._runtime.call_later(RETRY_BACKOFF_MS, self._retry_allocation)
            return
        self._is_allocating = False
        if self._is_withheld:
            return
        self._next_block = (response.producer_id_start, response.producer_id_len)

    def _retry_allocation(self) -> None:
        self._is_allocating = False
        self._request_block()
