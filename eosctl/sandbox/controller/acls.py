"""CreateAcls and DeleteAcls on the controller (`AclControlManager`)."""

from __future__ import annotations

from typing import Any

from msgspec.structs import astuple

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.controller.topics import Refused
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.acls import CLUSTER_NAME, Acl, AclFilter, PatternType, Permission, ResourceType
from eosctl.sandbox.security.authorizer import acl_of
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.create_acls import AclCreationResult, CreateAclsRequest, CreateAclsResponse
from eosctl.wire.messages.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from eosctl.wire.messages.internal.metadata.access_control_entry_record import AccessControlEntryRecord
from eosctl.wire.messages.internal.metadata.remove_access_control_entry_record import RemoveAccessControlEntryRecord


def create_acls(controller: Controller, context: RequestContext, request: CreateAclsRequest) -> None:
    """Add the ACLs that do not exist yet; a rejected one does not affect the others."""
    acls = [Acl(*astuple(creation)) for creation in request.creations]
    if any(acl.is_pattern for acl in acls):  # Invalid codes cannot form an ACL, so Kafka fails the whole request.
        failed = AclCreationResult(ErrorCode.UNKNOWN_SERVER_ERROR, None)
        context.reply(CreateAclsResponse(0, [failed for _ in acls]))
        return
    present = {acl_of(record) for record in controller.image.acls.values()}
    records: list[Any] = []
    results = []
    for acl in acls:
        try:
            _check(acl)
        except Refused as refused:
            results.append(AclCreationResult(refused.error, refused.message))
            continue
        results.append(AclCreationResult(ErrorCode.NONE, ""))
        if acl not in present:
            present.add(acl)
            records.append(AccessControlEntryRecord(controller.runtime.random.randbytes(16), *acl))
    controller.write(records, lambda: context.reply(CreateAclsResponse(0, results)))


def _check(acl: Acl) -> None:
    unknown = (
        ("resourceType", acl.resource_type, ResourceType),
        ("patternType", acl.pattern_type, PatternType),
        ("operation", acl.operation, AclOperation),
        ("permissionType", acl.permission, Permission),
    )
    for name, code, codes in unknown:
        if code not in tuple(codes):
            raise Refused(ErrorCode.INVALID_REQUEST, f"Invalid {name} UNKNOWN")
    if acl.resource_type == ResourceType.CLUSTER and acl.resource_name != CLUSTER_NAME:
        raise Refused(ErrorCode.INVALID_REQUEST, f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}")
    if not acl.resource_name:
        raise Refused(ErrorCode.INVALID_REQUEST, "Invalid empty resource name")
    if ":" not in acl.principal:
        raise Refused(
            ErrorCode.INVALID_REQUEST,
            f"Could not parse principal from `{acl.principal}` (no colon is present separating the principal type from "
            "the principal name)",
        )


def delete_acls(controller: Controller, context: RequestContext, request: DeleteAclsRequest) -> None:
    """Delete the ACLs that match the filters; an ACL that two filters match is deleted and returned once for each."""
    known = {identity: acl_of(record) for identity, record in controller.image.acls.items()}
    removed: dict[bytes, None] = {}
    results = []
    for fields in request.filters:
        chosen = AclFilter(*astuple(fields))
        matching = []
        for identity, acl in known.items():
            if identity not in removed and chosen.selects(acl):
                removed[identity] = None
                matching.append(DeleteAclsMatchingAcl(0, None, *acl))
        results.append(DeleteAclsFilterResult(ErrorCode.NONE, None, matching))
    records = [RemoveAccessControlEntryRecord(identity) for identity in removed]
    controller.write(records, lambda: context.reply(DeleteAclsResponse(0, results)))
