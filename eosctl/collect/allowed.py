"""The requests that collecting evidence may send.

Reading never changes a cluster, and this list is how that is kept. FindCoordinator is missing on purpose: on a cluster
without the internal topic it creates it. JoinGroup, OffsetCommit and everything that writes are missing because they
write. Metadata is sent with auto-creation off.
"""

from __future__ import annotations

from typing import Final

from eosctl.wire.api_keys import ApiKey

READ_ONLY_APIS: Final = frozenset(
    {
        ApiKey.API_VERSIONS,
        ApiKey.SASL_HANDSHAKE,
        ApiKey.SASL_AUTHENTICATE,
        ApiKey.METADATA,
        ApiKey.DESCRIBE_CLUSTER,
        ApiKey.DESCRIBE_CONFIGS,
        ApiKey.DESCRIBE_QUORUM,
        ApiKey.DESCRIBE_ACLS,
        ApiKey.DESCRIBE_LOG_DIRS,
        ApiKey.LIST_TRANSACTIONS,
        ApiKey.DESCRIBE_TRANSACTIONS,
        ApiKey.DESCRIBE_PRODUCERS,
        ApiKey.LIST_OFFSETS,
        ApiKey.OFFSET_FOR_LEADER_EPOCH,
        ApiKey.LIST_GROUPS,
        ApiKey.DESCRIBE_GROUPS,
        ApiKey.CONSUMER_GROUP_DESCRIBE,
        ApiKey.OFFSET_FETCH,
        ApiKey.FETCH,
    }
)
