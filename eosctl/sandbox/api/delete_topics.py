"""DeleteTopics (key 20, versions 1 to 6; 3.9 serves 0 to 6): forwarded to the controller (KIP-516: by id in version 6).

- Not done: ``delete.topic.enable=false``.
"""

from __future__ import annotations

from eosctl.sandbox.api.in_time import forward_in_time
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.messages.delete_topics import DeleteTopicsRequest


def handle(broker: BrokerServices, context: RequestContext, request: DeleteTopicsRequest) -> None:
    """Forward to the active controller."""
    forward_in_time(broker, context, request)
