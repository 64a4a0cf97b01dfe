"""Allocation of producer id blocks: 1000 ids for each AllocateProducerIds request (KIP-730)."""

from __future__ import annotations

from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.allocate_producer_ids import AllocateProducerIdsRequest, AllocateProducerIdsResponse
from eosctl.wire.messages.internal.metadata.producer_ids_record import ProducerIdsRecord

BLOCK_SIZE = 1000


def allocate_producer_ids(controller: Controller, context: RequestContext, request: AllocateProducerIdsRequest) -> None:
    """Allocate the next block for a broker; respond once the record is committed."""
    broker = controller.image.brokers.get(request.broker_id)
    if broker is None or broker.broker_epoch != request.broker_epoch:
        context.reply(AllocateProducerIdsResponse(error_code=ErrorCode.STALE_BROKER_EPOCH))
        return
    first = controller.image.next_producer_id
    response = AllocateProducerIdsResponse(0, 0, first, BLOCK_SIZE)
    record = ProducerIdsRecord(request.broker_id, request.broker_epoch, first + BLOCK_SIZE)
    controller.write([record], lambda: context.reply(response))
