"""What a controller answers that is not the active one."""

from __future__ import annotations

from typing import Any

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.allocate_producer_ids import AllocateProducerIdsResponse
from eosctl.wire.messages.alter_partition import AlterPartitionResponse
from eosctl.wire.messages.assign_replicas_to_dirs import AssignReplicasToDirsResponse
from eosctl.wire.messages.broker_heartbeat import BrokerHeartbeatResponse
from eosctl.wire.messages.broker_registration import BrokerRegistrationResponse

_RESPONSES: dict[int, type[Any]] = {
    ApiKey.ALLOCATE_PRODUCER_IDS: AllocateProducerIdsResponse,
    ApiKey.ALTER_PARTITION: AlterPartitionResponse,
    ApiKey.ASSIGN_REPLICAS_TO_DIRS: AssignReplicasToDirsResponse,
    ApiKey.BROKER_HEARTBEAT: BrokerHeartbeatResponse,
    ApiKey.BROKER_REGISTRATION: BrokerRegistrationResponse,
}


def refusal_of(api_key: int) -> Any | None:
    """Return NOT_CONTROLLER; None (the connection is closed) for requests that Kafka forwards in an envelope."""
    response = _RESPONSES.get(api_key)
    return None if response is None else response(error_code=ErrorCode.NOT_CONTROLLER)
