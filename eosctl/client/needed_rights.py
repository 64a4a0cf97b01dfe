"""The right that a request needs on the resource that a broker denied, as `KafkaApis` and `ControllerApis` check it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode

#: The resource of each error, as errors and findings name it.
RESOURCES: Final[Mapping[ErrorCode, str]] = MappingProxyType(
    {
        ErrorCode.TOPIC_AUTHORIZATION_FAILED: "topic",
        ErrorCode.GROUP_AUTHORIZATION_FAILED: "group",
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "the cluster",
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "transactional id",
    }
)
#: For each resource: the operations of requests that need more than Describe.
_OPERATIONS: Final[Mapping[ErrorCode, Mapping[ApiKey, str]]] = MappingProxyType(
    {
        ErrorCode.TOPIC_AUTHORIZATION_FAILED: MappingProxyType(
            {
                ApiKey.PRODUCE: "Write",
                ApiKey.ADD_PARTITIONS_TO_TXN: "Write",
                ApiKey.FETCH: "Read",
                ApiKey.SHARE_FETCH: "Read",
                ApiKey.DESCRIBE_PRODUCERS: "Read",
                ApiKey.OFFSET_COMMIT: "Read",
                ApiKey.TXN_OFFSET_COMMIT: "Read",
                ApiKey.CREATE_TOPICS: "Create",
                ApiKey.DELETE_TOPICS: "Delete",
                ApiKey.DELETE_RECORDS: "Delete",
                ApiKey.DESCRIBE_CONFIGS: "DescribeConfigs",
                ApiKey.INCREMENTAL_ALTER_CONFIGS: "AlterConfigs",
            }
        ),
        ErrorCode.GROUP_AUTHORIZATION_FAILED: MappingProxyType(
            {
                ApiKey.JOIN_GROUP: "Read",
                ApiKey.SYNC_GROUP: "Read",
                ApiKey.OFFSET_COMMIT: "Read",
                ApiKey.TXN_OFFSET_COMMIT: "Read",
                ApiKey.ADD_OFFSETS_TO_TXN: "Read",
                ApiKey.DELETE_GROUPS: "Delete",
                ApiKey.DESCRIBE_CONFIGS: "DescribeConfigs",
            }
        ),
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED: MappingProxyType(
            {
                ApiKey.INIT_PRODUCER_ID: "IdempotentWrite",
                ApiKey.DESCRIBE_CONFIGS: "DescribeConfigs",
                ApiKey.INCREMENTAL_ALTER_CONFIGS: "AlterConfigs",
                ApiKey.WRITE_TXN_MARKERS: "Alter",
                ApiKey.ELECT_LEADERS: "Alter",
                ApiKey.UPDATE_FEATURES: "Alter",
                ApiKey.CREATE_ACLS: "Alter",
                ApiKey.DELETE_ACLS: "Alter",
            }
        ),
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: MappingProxyType(
            {
                ApiKey.INIT_PRODUCER_ID: "Write",
                ApiKey.ADD_PARTITIONS_TO_TXN: "Write",
                ApiKey.ADD_OFFSETS_TO_TXN: "Write",
                ApiKey.TXN_OFFSET_COMMIT: "Write",
                ApiKey.PRODUCE: "Write",
                ApiKey.END_TXN: "Write",
            }
        ),
    }
)


def needed_right(error: ErrorCode, api_key: ApiKey) -> str:
    """Return the right that a denied request needs, e.g. `Write on topic`; empty if the error is not a denial."""
    resource = RESOURCES.get(error)
    return "" if resource is None else f"{_OPERATIONS[error].get(api_key, 'Describe')} on {resource}"
