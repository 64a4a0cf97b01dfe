"""Guards of what concerns the cluster as a whole: one operation on it, or the whole request is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.kafka_texts import kafka_text
from eosctl.sandbox.security.access import Access, Guard
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import (
    add_raft_voter,
    alter_client_quotas,
    alter_partition_reassignments,
    alter_replica_log_dirs,
    alter_user_scram_credentials,
    create_acls,
    delete_acls,
    describe_acls,
    describe_client_quotas,
    describe_log_dirs,
    describe_quorum,
    describe_user_scram_credentials,
    elect_leaders,
    list_partition_reassignments,
    remove_raft_voter,
    unregister_broker,
    update_features,
)

DENIED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
TEXT = kafka_text(DENIED)


def _needs(operation: AclOperation, refuse: Callable[[Any], Any]) -> Guard:
    def guard(access: Access, request: Any) -> None:
        if access.may_cluster(operation):
            access.proceed(request)
        else:
            access.reply(refuse(request))

    return guard


def _refuse_reassignment(
    request: alter_partition_reassignments.AlterPartitionReassignmentsRequest,
) -> alter_partition_reassignments.AlterPartitionReassignmentsResponse:
    topics = [
        alter_partition_reassignments.ReassignableTopicResponse(
            topic.name,
            [
                alter_partition_reassignments.ReassignablePartitionResponse(one.partition_index, DENIED, TEXT)
                for one in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    return alter_partition_reassignments.AlterPartitionReassignmentsResponse(
        error_code=DENIED, error_message=TEXT, responses=topics
    )


def _refuse_election(request: elect_leaders.ElectLeadersRequest) -> elect_leaders.ElectLeadersResponse:
    topics = [
        elect_leaders.ReplicaElectionResult(
            topic.topic, [elect_leaders.PartitionResult(index, DENIED, TEXT) for index in topic.partitions]
        )
        for topic in request.topic_partitions or ()
    ]
    return elect_leaders.ElectLeadersResponse(0, DENIED, topics)


def _refuse_log_dirs(
    request: alter_replica_log_dirs.AlterReplicaLogDirsRequest,
) -> alter_replica_log_dirs.AlterReplicaLogDirsResponse:
    return alter_replica_log_dirs.AlterReplicaLogDirsResponse(
        0,
        [
            alter_replica_log_dirs.AlterReplicaLogDirTopicResult(
                topic.name,
                [alter_replica_log_dirs.AlterReplicaLogDirPartitionResult(index, DENIED) for index in topic.partitions],
            )
            for directory in request.dirs
            for topic in directory.topics
        ],
    )


def _refuse_quotas(request: alter_client_quotas.AlterClientQuotasRequest) -> Any:
    return alter_client_quotas.AlterClientQuotasResponse(
        0,
        [
            alter_client_quotas.ResponseEntryData(
                DENIED,
                TEXT,
                [alter_client_quotas.EntityData(part.entity_type, part.entity_name) for part in entry.entity],
            )
            for entry in request.entries
        ],
    )


def _refuse_scram(request: alter_user_scram_credentials.AlterUserScramCredentialsRequest) -> Any:
    users = dict.fromkeys([*(one.name for one in request.deletions), *(one.name for one in request.upsertions)])
    return alter_user_scram_credentials.AlterUserScramCredentialsResponse(
        0, [alter_user_scram_credentials.AlterUserScramCredentialsResult(user, DENIED, TEXT) for user in users]
    )


def _refuse_scram_description(request: describe_user_scram_credentials.DescribeUserScramCredentialsRequest) -> Any:
    results = [
        describe_user_scram_credentials.DescribeUserScramCredentialsResult("", DENIED, TEXT)
        for _ in request.users or ()
    ]
    return describe_user_scram_credentials.DescribeUserScramCredentialsResponse(0, DENIED, TEXT, results)


ALTER, DESCRIBE = AclOperation.ALTER, AclOperation.DESCRIBE
GUARDS: Mapping[int, Guard] = {
    ApiKey.DESCRIBE_ACLS: _needs(DESCRIBE, lambda _: describe_acls.DescribeAclsResponse(0, DENIED, TEXT)),
    ApiKey.CREATE_ACLS: _needs(
        ALTER,
        lambda request: create_acls.CreateAclsResponse(
            0, [create_acls.AclCreationResult(DENIED, TEXT) for _ in request.creations]
        ),
    ),
    ApiKey.DELETE_ACLS: _needs(
        ALTER,
        lambda request: delete_acls.DeleteAclsResponse(
            0, [delete_acls.DeleteAclsFilterResult(DENIED, TEXT) for _ in request.filters]
        ),
    ),
    ApiKey.DESCRIBE_LOG_DIRS: _needs(DESCRIBE, lambda _: describe_log_dirs.DescribeLogDirsResponse(0, DENIED)),
    ApiKey.ALTER_REPLICA_LOG_DIRS: _needs(ALTER, _refuse_log_dirs),
    ApiKey.ELECT_LEADERS: _needs(ALTER, _refuse_election),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: _needs(ALTER, _refuse_reassignment),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: _needs(
        DESCRIBE, lambda _: list_partition_reassignments.ListPartitionReassignmentsResponse(0, DENIED, TEXT)
    ),
    ApiKey.DESCRIBE_CLIENT_QUOTAS: _needs(
        AclOperation.DESCRIBE_CONFIGS,
        lambda _: describe_client_quotas.DescribeClientQuotasResponse(0, DENIED, TEXT, None),
    ),
    ApiKey.ALTER_CLIENT_QUOTAS: _needs(AclOperation.ALTER_CONFIGS, _refuse_quotas),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: _needs(DESCRIBE, _refuse_scram_description),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: _needs(ALTER, _refuse_scram),
    ApiKey.DESCRIBE_QUORUM: _needs(DESCRIBE, lambda _: describe_quorum.DescribeQuorumResponse(DENIED, TEXT)),
    ApiKey.UPDATE_FEATURES: _needs(ALTER, lambda _: update_features.UpdateFeaturesResponse(0, DENIED, TEXT)),
    ApiKey.UNREGISTER_BROKER: _needs(ALTER, lambda _: unregister_broker.UnregisterBrokerResponse(0, DENIED, TEXT)),
    ApiKey.ADD_RAFT_VOTER: _needs(ALTER, lambda _: add_raft_voter.AddRaftVoterResponse(0, DENIED, TEXT)),
    ApiKey.REMOVE_RAFT_VOTER: _needs(ALTER, lambda _: remove_raft_voter.RemoveRaftVoterResponse(0, DENIED, TEXT)),
}
