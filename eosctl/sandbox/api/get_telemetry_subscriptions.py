"""GetTelemetrySubscriptions (key 71, version 0; KIP-714): the metrics that a client is to push.

It is served, and announced, only by a broker with a reporter in `metric.reporters` that receives client metrics.
"""

from __future__ import annotations

from functools import partial

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.replies import IdentifiedReply
from eosctl.wire.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest


def handle(broker: BrokerServices, context: RequestContext, request: GetTelemetrySubscriptionsRequest) -> None:
    """Return the subscription of a client."""
    reply = context.reply
    if not isinstance(reply, IdentifiedReply):
        context.reply(None)  # Only clients have subscriptions.
        return
    response = broker.client_metrics.subscribe(request.client_instance_id, context.client_id, reply.client())
    if not response.error_code and not broker.emulation.is_3_9:
        forget = partial(broker.client_metrics.forget, response.client_instance_id)
        reply.on_close(("telemetry", response.client_instance_id), forget)
    context.reply(response)
