"""Requests about settings and the cluster."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages import (
    alter_client_quotas,
    alter_configs,
    alter_partition_reassignments,
    alter_user_scram_credentials,
    create_acls,
    delete_acls,
    describe_acls,
    describe_client_quotas,
    describe_cluster,
    describe_configs,
    describe_log_dirs,
    describe_quorum,
    describe_user_scram_credentials,
    elect_leaders,
    incremental_alter_configs,
    list_config_resources,
    list_partition_reassignments,
    unregister_broker,
    update_features,
)
from tests.sandbox.security.probe import GROUP, USER, Probe


def settings_probes() -> Iterator[Probe]:
    """Ask about settings."""
    resources = [(2, "orders"), (2, "payments"), (4, "1"), (4, ""), (32, GROUP)]
    yield Probe(
        "settings",
        ApiKey.DESCRIBE_CONFIGS,
        4,
        describe_configs.DescribeConfigsRequest(
            [describe_configs.DescribeConfigsResource(kind, name, ["none"]) for kind, name in resources]
        ),
    )
    yield Probe(
        "change settings",
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        1,
        incremental_alter_configs.IncrementalAlterConfigsRequest(
            [incremental_alter_configs.AlterConfigsResource(kind, name) for kind, name in resources], True
        ),
    )
    yield Probe(
        "replace settings",
        ApiKey.ALTER_CONFIGS,
        2,
        alter_configs.AlterConfigsRequest(
            [alter_configs.AlterConfigsResource(kind, name) for kind, name in resources[:4]], True
        ),
    )
    yield Probe("list settings", ApiKey.LIST_CONFIG_RESOURCES, 1, list_config_resources.ListConfigResourcesRequest())


def cluster_probes() -> Iterator[Probe]:
    """Ask about the cluster."""
    yield Probe("describe the cluster", ApiKey.DESCRIBE_CLUSTER, 1, describe_cluster.DescribeClusterRequest(True))
    yield Probe(
        "describe entries", ApiKey.DESCRIBE_ACLS, 3, describe_acls.DescribeAclsRequest(1, None, 1, None, None, 1, 1)
    )
    yield Probe(
        "create an entry",
        ApiKey.CREATE_ACLS,
        3,
        create_acls.CreateAclsRequest(
            [
                create_acls.AclCreation(4, "no-cluster", 3, USER, "*", 3, 3),
                create_acls.AclCreation(2, "", 3, USER, "*", 3, 3),
            ]
        ),
    )
    yield Probe(
        "delete entries",
        ApiKey.DELETE_ACLS,
        3,
        delete_acls.DeleteAclsRequest([delete_acls.DeleteAclsFilter(2, "ghost", 3, None, None, 1, 1)]),
    )
    yield Probe("log directories", ApiKey.DESCRIBE_LOG_DIRS, 4, describe_log_dirs.DescribeLogDirsRequest([]))
    yield Probe(
        "elect",
        ApiKey.ELECT_LEADERS,
        2,
        elect_leaders.ElectLeadersRequest(0, [elect_leaders.TopicPartitions("orders", [0])], 5000),
    )
    yield Probe(
        "reassign",
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        0,
        alter_partition_reassignments.AlterPartitionReassignmentsRequest(
            5000,
            topics=[
                alter_partition_reassignments.ReassignableTopic(
                    "ghost", [alter_partition_reassignments.ReassignablePartition(0, [1])]
                )
            ],
        ),
    )
    yield Probe(
        "reassignments",
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
        0,
        list_partition_reassignments.ListPartitionReassignmentsRequest(5000, None),
    )
    yield Probe(
        "quotas", ApiKey.DESCRIBE_CLIENT_QUOTAS, 1, describe_client_quotas.DescribeClientQuotasRequest([], False)
    )
    yield Probe(
        "change quotas",
        ApiKey.ALTER_CLIENT_QUOTAS,
        1,
        alter_client_quotas.AlterClientQuotasRequest(
            [
                alter_client_quotas.RequestEntryData(
                    [alter_client_quotas.EntityData("user", "bob")],
                    [alter_client_quotas.OpData("producer_byte_rate", 5.0, False)],
                )
            ],
            True,
        ),
    )
    yield Probe(
        "users",
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
        0,
        describe_user_scram_credentials.DescribeUserScramCredentialsRequest(
            [describe_user_scram_credentials.UserName("ghost")]
        ),
    )
    yield Probe(
        "forget a user",
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        0,
        alter_user_scram_credentials.AlterUserScramCredentialsRequest(
            [alter_user_scram_credentials.ScramCredentialDeletion("ghost", 1)], []
        ),
    )
    yield Probe(
        "quorum",
        ApiKey.DESCRIBE_QUORUM,
        1,
        describe_quorum.DescribeQuorumRequest(
            [describe_quorum.RequestTopicData("__cluster_metadata", [describe_quorum.RequestPartitionData(0)])]
        ),
    )
    yield Probe(
        "features",
        ApiKey.UPDATE_FEATURES,
        1,
        update_features.UpdateFeaturesRequest(5000, [update_features.FeatureUpdateKey("ghost.version", 1)], True),
    )
    yield Probe("unregister", ApiKey.UNREGISTER_BROKER, 0, unregister_broker.UnregisterBrokerRequest(99))
