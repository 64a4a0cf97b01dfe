"""The controller's handler of each API."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from eosctl.sandbox.controller import (
    acls,
    broker_registration,
    configs,
    delegation_tokens,
    directories,
    features,
    metadata_fetches,
    partitions,
    producer_ids,
    quorum_handlers,
    quotas,
    reassignments,
    scram,
    topic_deletion,
    topic_growth,
    topics,
)
from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.controller.quorum import Quorum
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.api_keys import ApiKey

#: A handler of requests with many entries returns its steps, which are taken in turns.
ControllerHandler = Callable[[Controller, RequestContext, Any], Iterator[None] | None]

VoterHandler = Callable[[Quorum, RequestContext, Any], None]

#: Handled by every voter, leader or not.
VOTER_ROUTES: dict[int, VoterHandler] = {
    ApiKey.VOTE: quorum_handlers.handle_vote,
    ApiKey.BEGIN_QUORUM_EPOCH: quorum_handlers.handle_begin_quorum_epoch,
    ApiKey.END_QUORUM_EPOCH: quorum_handlers.handle_end_quorum_epoch,
}

#: Handled by the active controller.
ROUTES: dict[int, ControllerHandler] = {
    ApiKey.ALLOCATE_PRODUCER_IDS: producer_ids.allocate_producer_ids,
    ApiKey.ALTER_CLIENT_QUOTAS: quotas.alter_client_quotas,
    ApiKey.ALTER_CONFIGS: configs.alter_configs,
    ApiKey.ALTER_PARTITION: partitions.alter_partition,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: reassignments.alter_partition_reassignments,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: scram.alter_user_scram_credentials,
    ApiKey.ASSIGN_REPLICAS_TO_DIRS: directories.assign_replicas_to_dirs,
    ApiKey.BROKER_HEARTBEAT: broker_registration.broker_heartbeat,
    ApiKey.BROKER_REGISTRATION: broker_registration.register_broker,
    ApiKey.CREATE_ACLS: acls.create_acls,
    ApiKey.CREATE_DELEGATION_TOKEN: delegation_tokens.create_delegation_token,
    ApiKey.CREATE_PARTITIONS: topic_growth.create_partitions,
    ApiKey.CREATE_TOPICS: topics.create_topics,
    ApiKey.DELETE_ACLS: acls.delete_acls,
    ApiKey.DELETE_TOPICS: topic_deletion.delete_topics,
    ApiKey.DESCRIBE_QUORUM: metadata_fetches.describe_quorum,
    ApiKey.ELECT_LEADERS: partitions.elect_leaders,
    ApiKey.EXPIRE_DELEGATION_TOKEN: delegation_tokens.expire_delegation_token,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: configs.incremental_alter_configs,
    ApiKey.LIST_PARTITION_REASSIGNMENTS: reassignments.list_partition_reassignments,
    ApiKey.RENEW_DELEGATION_TOKEN: delegation_tokens.renew_delegation_token,
    ApiKey.UNREGISTER_BROKER: broker_registration.unregister_broker,
    ApiKey.UNREGISTER_CONTROLLER: broker_registration.unregister_controller,
    ApiKey.UPDATE_FEATURES: features.update_features,
}
