"""What a broker asks its authorizer before it answers: one guard for each API, as KafkaApis and ControllerApis do.

A guard refuses the request, or lets its handler see the part that is allowed and adds the refusals to the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from eosctl.sandbox.broker.served import Handler
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access, Guard


def guarded(broker: BrokerServices, context: RequestContext, request: Any, handle: Handler) -> None:
    """Answer a request as far as its principal may ask for it."""
    guard = _guards().get(context.api_key)
    if guard is None:
        handle(broker, context, request)
    else:
        guard(Access(broker, context, handle), request)


@cache
def _guards() -> Mapping[int, Guard]:
    from eosctl.sandbox.security.guards import cluster, configs, data, groups, topics, transactions

    return {
        **data.GUARDS,
        **topics.GUARDS,
        **groups.GUARDS,
        **transactions.GUARDS,
        **configs.GUARDS,
        **cluster.GUARDS,
    }
