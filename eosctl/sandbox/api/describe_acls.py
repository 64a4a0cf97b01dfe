"""DescribeAcls (key 29, versions 1 to 3; 3.9 serves 0 to 3): the ACLs that match a filter (KIP-140, KIP-290).

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
from eosctl.sandbox.security.authorizer import acl_of
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)

NO_AUTHORIZER = "No Authorizer is configured on the broker"


def handle(broker: BrokerServices, context: RequestContext, request: DescribeAclsRequest) -> None:
    """Describe the matching ACLs, grouped by resource."""
    chosen = AclFilter(*astuple(request))
    if chosen.has_unknown_code:
        context.reply(None)
        return
    if broker.authorizer is None:
        context.reply(DescribeAclsResponse(0, ErrorCode.SECURITY_DISABLED, NO_AUTHORIZER))
        return
    found: dict[tuple[int, str, int], list[AclDescription]] = {}
    for acl in map(acl_of, broker.metadata.acls.values()):
        if chosen.selects(acl):
            resource = (acl.resource_type, acl.resource_name, acl.pattern_type)
            entry = AclDescription(acl.principal, acl.host, acl.operation, acl.permission)
            found.setdefault(resource, []).append(entry)
    resources = [DescribeAclsResource(*resource, entries) for resource, entries in found.items()]
    context.reply(DescribeAclsResponse(0, ErrorCode.NONE, "", resources))


DENIED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
guard = needs_cluster(AclOperation.DESCRIBE, lambda _: DescribeAclsResponse(0, DENIED, kafka_text(DENIED)))
