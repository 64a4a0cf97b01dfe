"""Changes of broker settings: each broker handles its own and rejects those of others (`ConfigAdminManager`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.metadata.image import BROKER_RESOURCE
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.settings import is_integer
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import alter_configs, incremental_alter_configs

LOGGER_RESOURCE = 8
TIMEOUT_MS = 30_000


def forward_changes(
    broker: BrokerServices,
    context: RequestContext,
    request: alter_configs.AlterConfigsRequest | incremental_alter_configs.IncrementalAlterConfigsRequest,
    refusal: Callable[[ErrorCode, str, int, str], Struct],
) -> None:
    """Forward the changes except those of other brokers; `refusal` builds the result of a rejected resource."""
    resources: Sequence[alter_configs.AlterConfigsResource | incremental_alter_configs.AlterConfigsResource] = (
        request.resources
    )
    refused = {
        place: refusal(ErrorCode.INVALID_REQUEST, text, resource.resource_type, resource.resource_name)
        for place, resource in enumerate(resources)
        if (text := _problem(broker, resource.resource_type, resource.resource_name)) is not None
    }
    if not refused:
        broker.forward(context, request, TIMEOUT_MS)
        return
    kept = [resource for place, resource in enumerate(resources) if place not in refused]

    def reply(
        response: alter_configs.AlterConfigsResponse | incremental_alter_configs.IncrementalAlterConfigsResponse | None,
    ) -> None:
        if response is not None:
            answers = iter(response.responses)
            merged = [refused.get(place) or next(answers) for place in range(len(resources))]
            response = replace(response, responses=merged)
        context.reply(response)

    broker.forward(replace(context, reply=reply), replace(request, resources=kept), TIMEOUT_MS)


def _problem(broker: BrokerServices, kind: int, name: str) -> str | None:
    if not is_integer(name) or int(name) == broker.node_id:
        return None
    if kind == BROKER_RESOURCE:
        return f"Unexpected broker id, expected {broker.node_id}, but received {name}"
    if kind == LOGGER_RESOURCE:
        received = broker.node_id if broker.emulation.is_3_9 else name  # 3.9 prints its own id twice.
        return f"Unexpected node id. Expected {broker.node_id}, but received {received}"
    return None
