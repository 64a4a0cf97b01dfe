"""UnregisterBroker on the controller: a broker that will not come back is forgotten (KIP-631)."""

from __future__ import annotations

from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.controller.membership import fence_records
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.internal.metadata.unregister_broker_record import UnregisterBrokerRecord
from eosctl.wire.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse


def unregister_broker(controller: Controller, context: RequestContext, request: UnregisterBrokerRequest) -> None:
    """Take a broker out of every ISR and remove its registration; one that still runs registers again."""
    broker = controller.image.brokers.get(request.broker_id)
    if broker is None:
        text = "" if controller.emulation.is_3_9 else f"Broker ID {request.broker_id} is not currently registered"
        context.reply(UnregisterBrokerResponse(0, ErrorCode.BROKER_ID_NOT_REGISTERED, text))
        return
    left = fence_records(controller, broker)[:-1]  # without the fence itself: the whole registration goes
    controller.heartbeats.forget(broker.broker_id)
    records = [*left, UnregisterBrokerRecord(broker.broker_id, broker.broker_epoch)]
    controller.write(records, lambda: context.reply(UnregisterBrokerResponse(0, ErrorCode.NONE, None)))
