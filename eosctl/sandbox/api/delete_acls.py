"""DeleteAcls (key 31, versions 1 to 3; 3.9 serves 0 to 3): forwarded to the controller (KIP-140, KIP-290).

- Without an authorizer, the response is SECURITY_DISABLED.
- Undefined filter codes close the connection, as in Kafka.
"""

from __future__ import annotations

from msgspec.structs import astuple

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import needs_cluster
from eosctl.sandbox.security.acls import AclFilter
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.delete_acls import DeleteAclsFilterResult, DeleteAclsRequest, DeleteAclsResponse

NO_AUTHORIZER = "No Authorizer is configured."
TIMEOUT_MS = 30_000


def handle(broker: BrokerServices, context: RequestContext, request: DeleteAclsRequest) -> None:
    """Forward the filters to the controller."""
    if any(AclFilter(*astuple(chosen)).has_unknown_code for chosen in request.filters):
        context.reply(None)
    elif broker.authorizer is None:
        refused = DeleteAclsFilterResult(ErrorCode.SECURITY_DISABLED, NO_AUTHORIZER)
        context.reply(DeleteAclsResponse(0, [refused for _ in request.filters]))
    else:
        broker.forward(context, request, TIMEOUT_MS)


DENIED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
guard = needs_cluster(
    AclOperation.ALTER,
    lambda request: DeleteAclsResponse(
        0, [DeleteAclsFilterResult(DENIED, kafka_text(DENIED)) for _ in request.filters]
    ),
)
