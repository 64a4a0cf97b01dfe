"""The cluster's ACLs (DescribeAcls; needs DESCRIBE on the cluster)."""

from __future__ import annotations

from typing import Final

from eosctl.collect.reader import Probed, ReadOnly, attempt, gap_from_code
from eosctl.model.cluster_state import AccessRule, AccessRules
from eosctl.model.evidence import EvidenceKind
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import describe_acls

ANY: Final = 1
# ResourceType, PatternType, AclOperation, and AclPermissionType of Kafka's common.resource and common.acl.
_RESOURCES: Final = {2: "Topic", 3: "Group", 4: "Cluster", 5: "TransactionalId", 6: "DelegationToken", 7: "User"}
_PATTERNS: Final = {3: "Literal", 4: "Prefixed"}
_PERMISSIONS: Final = {2: "Deny", 3: "Allow"}
_OPERATIONS: Final = {
    2: "All",
    3: "Read",
    4: "Write",
    5: "Create",
    6: "Delete",
    7: "Alter",
    8: "Describe",
    9: "ClusterAction",
    10: "DescribeConfigs",
    11: "AlterConfigs",
    12: "IdempotentWrite",
    13: "CreateTokens",
    14: "DescribeTokens",
    15: "TwoPhaseCommit",
}


async def collect_access_rules(reader: ReadOnly) -> Probed[AccessRules | None]:
    """Return every ACL. A cluster without an authorizer has none, which is not a gap."""
    request = describe_acls.DescribeAclsRequest(
        resource_type_filter=ANY,
        resource_name_filter=None,
        pattern_type_filter=ANY,
        principal_filter=None,
        host_filter=None,
        operation=ANY,
        permission_type=ANY,
    )
    answer, gaps = await attempt(
        EvidenceKind.ACCESS_RULES, "*", lambda: reader.request_any(ApiKey.DESCRIBE_ACLS, request)
    )
    if answer is None:
        return Probed(None, gaps)
    if answer.error_code == ErrorCode.SECURITY_DISABLED:
        return Probed(AccessRules(enabled=False))
    if answer.error_code != ErrorCode.NONE:
        return Probed(None, (gap_from_code(EvidenceKind.ACCESS_RULES, "*", answer.error_code),))
    rules = (
        AccessRule(
            principal=acl.principal,
            host=acl.host,
            resource_type=_RESOURCES.get(resource.resource_type, str(resource.resource_type)),
            resource_name=resource.resource_name,
            pattern_type=_PATTERNS.get(resource.pattern_type, str(resource.pattern_type)),
            operation=_OPERATIONS.get(acl.operation, str(acl.operation)),
            permission=_PERMISSIONS.get(acl.permission_type, str(acl.permission_type)),
        )
        for resource in answer.resources
        for acl in resource.acls
    )
    return Probed(AccessRules(True, tuple(sorted(rules, key=str))))
