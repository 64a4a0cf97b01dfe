"""PushTelemetry (key 72, version 0; KIP-714): the metrics of a client.

It is served, and announced, only by a broker with a reporter in `metric.reporters` that receives client metrics.
"""

from __future__ import annotations

from functools import partial

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.replies import IdentifiedReply
from eosctl.wire.messages.push_telemetry import PushTelemetryRequest, PushTelemetryResponse


def handle(broker: BrokerServices, context: RequestContext, request: PushTelemetryRequest) -> None:
    """Receive metrics."""
    reply = context.reply
    if not isinstance(reply, IdentifiedReply):
        context.reply(None)  # Only clients push metrics.
        return
    error = broker.client_metrics.push(request, context.client_id, reply.client())
    if not broker.emulation.is_3_9:
        forget = partial(broker.client_metrics.forget, request.client_instance_id)
        reply.on_close(("telemetry", request.client_instance_id), forget)
    context.reply(PushTelemetryResponse(0, error))
