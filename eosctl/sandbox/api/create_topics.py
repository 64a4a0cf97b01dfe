"""CreateTopics (key 19, versions 2 to 7; 3.9 serves 0 to 7): forwarded to the controller (KIP-4, KIP-195, KIP-525).

- Answered when the records are committed; a broker may learn of the topic a moment later, as in Kafka.
"""

from __future__ import annotations

from eosctl.sandbox.api.in_time import forward_in_time
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.messages.create_topics import CreateTopicsRequest


def handle(broker: BrokerServices, context: RequestContext, request: CreateTopicsRequest) -> None:
    """Forward to the active controller."""
    forward_in_time(broker, context, request)
