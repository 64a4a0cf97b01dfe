"""CreateAcls (key 30, versions 1 to 3; 3.9 serves 0 to 3): forwarded to the controller (KIP-140, KIP-290).

- Without an authorizer, the response is SECURITY_DISABLED.
"""

from __future__ import annotations

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import needs_cluster
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.create_acls import AclCreationResult, CreateAclsRequest, CreateAclsResponse

NO_AUTHORIZER = "No Authorizer is configured."
TIMEOUT_MS = 30_000


def handle(broker: BrokerServices, context: RequestContext, request: CreateAclsRequest) -> None:
    """Forward the new ACLs to the controller."""
    if broker.authorizer is None:
        refused = AclCreationResult(ErrorCode.SECURITY_DISABLED, NO_AUTHORIZER)
        context.reply(CreateAclsResponse(0, [refused for _ in request.creations]))
    else:
        broker.forward(context, request, TIMEOUT_MS)


DENIED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
guard = needs_cluster(
    AclOperation.ALTER,
    lambda request: CreateAclsResponse(0, [AclCreationResult(DENIED, kafka_text(DENIED)) for _ in request.creations]),
)
