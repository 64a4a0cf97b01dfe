"""StreamsGroupTopologyDescriptionUpdate (key 93, version 0; 4.4): refused as by a broker without a plugin for it."""

from __future__ import annotations

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.streams_group_topology_description_update import (
    StreamsGroupTopologyDescriptionUpdateRequest,
    StreamsGroupTopologyDescriptionUpdateResponse,
)

NO_PLUGIN = "The broker has no streams group topology description plugin configured."


def handle(_: BrokerServices, context: RequestContext, request: StreamsGroupTopologyDescriptionUpdateRequest) -> None:
    """Refuse the description of a topology."""
    context.reply(StreamsGroupTopologyDescriptionUpdateResponse(0, ErrorCode.UNSUPPORTED_VERSION, NO_PLUGIN))
