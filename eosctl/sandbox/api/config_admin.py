"""Changes of broker settings and loggers: each broker handles its own and rejects others' (`ConfigAdminManager`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from eosctl.sandbox.api.broker_loggers import LOGGER_RESOURCE, Refusal, change_levels
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.metadata.image import BROKER_RESOURCE
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.settings import is_integer
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import alter_configs, incremental_alter_configs

TIMEOUT_MS = 30_000


def forward_changes(
    broker: BrokerServices,
    context: RequestContext,
    request: alter_configs.AlterConfigsRequest | incremental_alter_configs.IncrementalAlterConfigsRequest,
    build: Callable[[ErrorCode, str | None, int, str], Struct],
) -> None:
    """Forward the changes except those of loggers and of other brokers; `build` makes the result of such a resource."""
    resources: Sequence[alter_configs.AlterConfigsResource | incremental_alter_configs.AlterConfigsResource] = (
        request.resources
    )
    named = Counter((resource.resource_type, resource.resource_name) for resource in resources)
    own = {
        place: build(*result, resource.resource_type, resource.resource_name)
        for place, resource in enumerate(resources)
        if (result := _own_result(broker, request, resource, named)) is not None
    }
    if not own:
        broker.forward(context, request, TIMEOUT_MS)
        return
    kept = [resource for place, resource in enumerate(resources) if place not in own]

    def reply(
        response: alter_configs.AlterConfigsResponse | incremental_alter_configs.IncrementalAlterConfigsResponse | None,
    ) -> None:
        if response is not None:
            answers = iter(response.responses)
            merged = [own.get(place) or next(answers) for place in range(len(resources))]
            response = replace(response, responses=merged)
        context.reply(response)

    broker.forward(replace(context, reply=reply), replace(request, resources=kept), TIMEOUT_MS)


def _own_result(
    broker: BrokerServices,
    request: alter_configs.AlterConfigsRequest | incremental_alter_configs.IncrementalAlterConfigsRequest,
    resource: alter_configs.AlterConfigsResource | incremental_alter_configs.AlterConfigsResource,
    named: Mapping[tuple[int, str], int],
) -> Refusal | None:
    """Return the result of a resource that this broker handles; None if the controller handles it."""
    text = _problem(broker, resource.resource_type, resource.resource_name)
    if text is not None:
        return ErrorCode.INVALID_REQUEST, text
    if (
        resource.resource_type != LOGGER_RESOURCE
        or not isinstance(request, incremental_alter_configs.IncrementalAlterConfigsRequest)
        or not isinstance(resource, incremental_alter_configs.AlterConfigsResource)
    ):
        return None
    if named[resource.resource_type, resource.resource_name] > 1:
        return None  # The controller refuses every resource that appears twice.
    return change_levels(broker, resource.resource_name, resource.configs, validate_only=request.validate_only)


def _problem(broker: BrokerServices, kind: int, name: str) -> str | None:
    if not is_integer(name) or int(name) == broker.node_id:
        return None
    if kind == BROKER_RESOURCE:
        return f"Unexpected broker id, expected {broker.node_id}, but received {name}"
    if kind == LOGGER_RESOURCE:
        received = broker.node_id if broker.emulation.is_3_9 else name  # 3.9 prints its own id twice.
        return f"Unexpected node id. Expected {broker.node_id}, but received {received}"
    return None
