"""Guards of settings: each resource for itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.kafka_texts import kafka_text
from eosctl.sandbox.metadata.image import GROUP_RESOURCE, TOPIC_RESOURCE
from eosctl.sandbox.security.access import Access, Guard
from eosctl.sandbox.security.acls import ResourceType
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import alter_configs, describe_configs, incremental_alter_configs, list_config_resources


def _denial(access: Access, operation: AclOperation, resource_type: int, name: str) -> ErrorCode | None:
    """Return the code for settings of a topic, a group, or anything else, which belongs to the cluster."""
    if resource_type == TOPIC_RESOURCE:
        return None if access.may(operation, ResourceType.TOPIC, name) else ErrorCode.TOPIC_AUTHORIZATION_FAILED
    if resource_type == GROUP_RESOURCE:
        return None if access.may(operation, ResourceType.GROUP, name) else ErrorCode.GROUP_AUTHORIZATION_FAILED
    return None if access.may_cluster(operation) else ErrorCode.CLUSTER_AUTHORIZATION_FAILED


def guard_describe(access: Access, request: describe_configs.DescribeConfigsRequest) -> None:
    """Ask for DESCRIBE_CONFIGS."""
    allowed, refused = [], []
    for resource in request.resources:
        kind, name = resource.resource_type, resource.resource_name
        error = _denial(access, AclOperation.DESCRIBE_CONFIGS, kind, name)
        if error is None:
            allowed.append(resource)
        else:
            refused.append(describe_configs.DescribeConfigsResult(error, kafka_text(error), kind, name))
    access.proceed(
        replace(request, resources=allowed), lambda response: replace(response, results=[*response.results, *refused])
    )


def guard_alter(access: Access, request: alter_configs.AlterConfigsRequest) -> None:
    """Ask for ALTER_CONFIGS."""
    _guard_change(access, request, alter_configs.AlterConfigsResourceResponse)


def guard_incremental(access: Access, request: incremental_alter_configs.IncrementalAlterConfigsRequest) -> None:
    """Ask for ALTER_CONFIGS."""
    _guard_change(access, request, incremental_alter_configs.AlterConfigsResourceResponse)


def _guard_change(access: Access, request: Any, refusal: Callable[[ErrorCode, str, int, str], Any]) -> None:
    """Let through the resources that may be changed, and add to the answer those that may not."""
    allowed, refused = [], []
    for resource in request.resources:
        kind, name = resource.resource_type, resource.resource_name
        error = _denial(access, AclOperation.ALTER_CONFIGS, kind, name)
        if error is None:
            allowed.append(resource)
        else:
            refused.append(refusal(error, kafka_text(error), kind, name))
    access.proceed(
        replace(request, resources=allowed),
        lambda response: replace(response, responses=[*response.responses, *refused]),
    )


def guard_list(access: Access, request: list_config_resources.ListConfigResourcesRequest) -> None:
    """Ask for DESCRIBE_CONFIGS on the cluster."""
    if access.may_cluster(AclOperation.DESCRIBE_CONFIGS):
        access.proceed(request)
    else:
        error = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        access.reply(list_config_resources.ListConfigResourcesResponse(0, error))


GUARDS: Mapping[int, Guard] = {
    ApiKey.DESCRIBE_CONFIGS: guard_describe,
    ApiKey.ALTER_CONFIGS: guard_alter,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: guard_incremental,
    ApiKey.LIST_CONFIG_RESOURCES: guard_list,
}
