"""All rules over configurations, named one by one: what is not here does not run."""

from __future__ import annotations

from typing import Final

from eosctl.checks.configuration.any_component.keyword_not_there import keyword_not_there
from eosctl.checks.configuration.any_component.misspelled_setting import misspelled_setting
from eosctl.checks.configuration.any_component.removed_setting import removed_setting
from eosctl.checks.configuration.any_component.setting_not_there_yet import setting_not_there_yet
from eosctl.checks.configuration.any_component.value_not_allowed import value_not_allowed
from eosctl.checks.configuration.broker.broker_defaults_not_durable import broker_defaults_not_durable
from eosctl.checks.configuration.broker.brokers_disagree import brokers_disagree
from eosctl.checks.configuration.broker.brokers_stop_uncontrolled import brokers_stop_uncontrolled
from eosctl.checks.configuration.broker.coordinator_segments_large import coordinator_segments_large
from eosctl.checks.configuration.broker.failure_detection_slower_than_transaction import (
    failure_detection_slower_than_transaction,
)
from eosctl.checks.configuration.broker.future_timestamps_refused import future_timestamps_refused
from eosctl.checks.configuration.broker.high_broker_maximum_timeout import high_broker_maximum_timeout
from eosctl.checks.configuration.broker.log_cleaner_off import log_cleaner_off
from eosctl.checks.configuration.broker.log_directory_is_temporary import log_directory_is_temporary
from eosctl.checks.configuration.broker.markers_removed_early import markers_removed_early
from eosctl.checks.configuration.broker.maximum_below_client_defaults import maximum_below_client_defaults
from eosctl.checks.configuration.broker.metadata_version_behind import metadata_version_behind
from eosctl.checks.configuration.broker.min_isr_equals_replication_factor import min_isr_equals_replication_factor
from eosctl.checks.configuration.broker.min_isr_over_replication_factor import min_isr_over_replication_factor
from eosctl.checks.configuration.broker.no_cleaner_threads import no_cleaner_threads
from eosctl.checks.configuration.broker.offset_commits_acknowledged_early import offset_commits_acknowledged_early
from eosctl.checks.configuration.broker.offsets_expire_early import offsets_expire_early
from eosctl.checks.configuration.broker.offsets_topic_not_durable import offsets_topic_not_durable
from eosctl.checks.configuration.broker.partition_verification_off import partition_verification_off
from eosctl.checks.configuration.broker.producer_state_expires_before_delivery import (
    producer_state_expires_before_delivery,
)
from eosctl.checks.configuration.broker.producer_state_expires_early import producer_state_expires_early
from eosctl.checks.configuration.broker.timeouts_swept_rarely import timeouts_swept_rarely
from eosctl.checks.configuration.broker.transaction_log_settings_not_durable import transaction_log_settings_not_durable
from eosctl.checks.configuration.broker.transactional_ids_expire_early import transactional_ids_expire_early
from eosctl.checks.configuration.broker.unclean_leader_election import unclean_leader_election
from eosctl.checks.configuration.broker.verification_during_old_roll import verification_during_old_roll
from eosctl.checks.configuration.broker.zookeeper_with_kraft import zookeeper_with_kraft
from eosctl.checks.configuration.connect.boundary_interval_unused import boundary_interval_unused
from eosctl.checks.configuration.connect.connect_producer_reorders import connect_producer_reorders
from eosctl.checks.configuration.connect.connector_requires_exactly_once import connector_requires_exactly_once
from eosctl.checks.configuration.connect.connector_swallows_errors import connector_swallows_errors
from eosctl.checks.configuration.connect.connector_transaction_outlives_timeout import (
    connector_transaction_outlives_timeout,
)
from eosctl.checks.configuration.connect.connector_without_boundaries import connector_without_boundaries
from eosctl.checks.configuration.connect.dead_letters_not_durable import dead_letters_not_durable
from eosctl.checks.configuration.connect.exactly_once_still_prepared import exactly_once_still_prepared
from eosctl.checks.configuration.connect.standalone_worker_exactly_once import standalone_worker_exactly_once
from eosctl.checks.configuration.connect.worker_refuses_overrides import worker_refuses_overrides
from eosctl.checks.configuration.connect.worker_topics_not_durable import worker_topics_not_durable
from eosctl.checks.configuration.connect.workers_disagree import workers_disagree
from eosctl.checks.configuration.consumer.auto_commit_beside_transactions import auto_commit_beside_transactions
from eosctl.checks.configuration.consumer.auto_commit_without_group import auto_commit_without_group
from eosctl.checks.configuration.consumer.classic_setting_with_new_protocol import classic_setting_with_new_protocol
from eosctl.checks.configuration.consumer.heartbeat_not_below_session import heartbeat_not_below_session
from eosctl.checks.configuration.consumer.poll_interval_below_session import poll_interval_below_session
from eosctl.checks.configuration.consumer.poll_interval_shorter_than_transaction import (
    poll_interval_shorter_than_transaction,
)
from eosctl.checks.configuration.consumer.reads_uncommitted import reads_uncommitted
from eosctl.checks.configuration.consumer.session_outside_broker_bounds import session_outside_broker_bounds
from eosctl.checks.configuration.consumer.share_consumer_refuses_setting import share_consumer_refuses_setting
from eosctl.checks.configuration.consumer.starts_at_the_end import starts_at_the_end
from eosctl.checks.configuration.consumer.static_member_twice import static_member_twice
from eosctl.checks.configuration.frameworks.flink_checkpoints_discarded import flink_checkpoints_discarded
from eosctl.checks.configuration.frameworks.flink_default_transaction_timeout import flink_default_transaction_timeout
from eosctl.checks.configuration.frameworks.flink_timeout_shorter_than_checkpoint import (
    flink_timeout_shorter_than_checkpoint,
)
from eosctl.checks.configuration.frameworks.flink_without_checkpoints import flink_without_checkpoints
from eosctl.checks.configuration.frameworks.flink_without_id_prefix import flink_without_id_prefix
from eosctl.checks.configuration.frameworks.spring_prefix_of_many_instances import spring_prefix_of_many_instances
from eosctl.checks.configuration.frameworks.spring_retry_topics_with_transactions import (
    spring_retry_topics_with_transactions,
)
from eosctl.checks.configuration.mirror_maker.exactly_once_without_cluster import exactly_once_without_cluster
from eosctl.checks.configuration.mirror_maker.mirror_maker_cycle import mirror_maker_cycle
from eosctl.checks.configuration.mirror_maker.mirror_maker_old_names import mirror_maker_old_names
from eosctl.checks.configuration.mirror_maker.mirror_maker_reads_uncommitted import mirror_maker_reads_uncommitted
from eosctl.checks.configuration.mirror_maker.mirror_maker_topics_not_durable import mirror_maker_topics_not_durable
from eosctl.checks.configuration.mirror_maker.mirror_maker_without_internal_rest import (
    mirror_maker_without_internal_rest,
)
from eosctl.checks.configuration.producer.delivery_timeout_too_short import delivery_timeout_too_short
from eosctl.checks.configuration.producer.idempotence_switched_off import idempotence_switched_off
from eosctl.checks.configuration.producer.idempotence_with_many_in_flight import idempotence_with_many_in_flight
from eosctl.checks.configuration.producer.idempotence_without_all_acks import idempotence_without_all_acks
from eosctl.checks.configuration.producer.idempotence_without_retries import idempotence_without_retries
from eosctl.checks.configuration.producer.librdkafka_contradiction import librdkafka_contradiction
from eosctl.checks.configuration.producer.librdkafka_taken_for_java import librdkafka_taken_for_java
from eosctl.checks.configuration.producer.linger_not_below_message_timeout import linger_not_below_message_timeout
from eosctl.checks.configuration.producer.random_transactional_id import random_transactional_id
from eosctl.checks.configuration.producer.requests_larger_than_accepted import requests_larger_than_accepted
from eosctl.checks.configuration.producer.retries_bounded import retries_bounded
from eosctl.checks.configuration.producer.shared_transactional_id import shared_transactional_id
from eosctl.checks.configuration.producer.short_max_block import short_max_block
from eosctl.checks.configuration.producer.transaction_shorter_than_delivery import transaction_shorter_than_delivery
from eosctl.checks.configuration.producer.transaction_timeout_over_broker_maximum import (
    transaction_timeout_over_broker_maximum,
)
from eosctl.checks.configuration.producer.transactional_without_idempotence import transactional_without_idempotence
from eosctl.checks.configuration.producer.two_phase_commit_not_carried_out import two_phase_commit_not_carried_out
from eosctl.checks.configuration.producer.two_phase_commit_with_timeout import two_phase_commit_with_timeout
from eosctl.checks.configuration.rule import Rule
from eosctl.checks.configuration.security.anonymous_listener_beside_authorizer import (
    anonymous_listener_beside_authorizer,
)
from eosctl.checks.configuration.security.anonymous_super_user import anonymous_super_user
from eosctl.checks.configuration.security.authorizer_is_gone import authorizer_is_gone
from eosctl.checks.configuration.security.host_names_not_verified import host_names_not_verified
from eosctl.checks.configuration.security.internal_topic_may_be_deleted import internal_topic_may_be_deleted
from eosctl.checks.configuration.security.literal_access_rule_with_star import literal_access_rule_with_star
from eosctl.checks.configuration.security.open_without_rules import open_without_rules
from eosctl.checks.configuration.security.password_in_clear import password_in_clear
from eosctl.checks.configuration.streams.brokers_too_old_for_guarantee import brokers_too_old_for_guarantee
from eosctl.checks.configuration.streams.commit_interval_over_transaction_timeout import (
    commit_interval_over_transaction_timeout,
)
from eosctl.checks.configuration.streams.commit_interval_unchecked_before_3_0 import (
    commit_interval_unchecked_before_3_0,
)
from eosctl.checks.configuration.streams.commit_interval_without_margin import commit_interval_without_margin
from eosctl.checks.configuration.streams.ephemeral_state_directory import ephemeral_state_directory
from eosctl.checks.configuration.streams.exception_handler_swallows import exception_handler_swallows
from eosctl.checks.configuration.streams.guarantee_not_known import guarantee_not_known
from eosctl.checks.configuration.streams.instances_differ_in_guarantee import instances_differ_in_guarantee
from eosctl.checks.configuration.streams.no_standby_tasks import no_standby_tasks
from eosctl.checks.configuration.streams.segment_smaller_than_batch import segment_smaller_than_batch
from eosctl.checks.configuration.streams.state_directory_shared import state_directory_shared
from eosctl.checks.configuration.streams.state_only_in_memory import state_only_in_memory
from eosctl.checks.configuration.streams.static_member_of_streams_protocol import static_member_of_streams_protocol
from eosctl.checks.configuration.streams.streams_assignor_replaced import streams_assignor_replaced
from eosctl.checks.configuration.streams.streams_ignores_setting import streams_ignores_setting
from eosctl.checks.configuration.streams.streams_internal_topics_not_replicated import (
    streams_internal_topics_not_replicated,
)
from eosctl.checks.configuration.streams.streams_with_many_in_flight import streams_with_many_in_flight
from eosctl.checks.configuration.streams.takeover_waits_for_transaction import takeover_waits_for_transaction
from eosctl.checks.configuration.streams.topic_setting_without_prefix import topic_setting_without_prefix
from eosctl.checks.configuration.streams.two_cache_sizes import two_cache_sizes
from eosctl.checks.configuration.streams.unprefixed_transaction_timeout import unprefixed_transaction_timeout
from eosctl.checks.configuration.streams.upgrade_from_left_behind import upgrade_from_left_behind
from eosctl.checks.configuration.topic.internal_topic_redefined import internal_topic_redefined
from eosctl.checks.configuration.topic.internal_topic_repartitioned import internal_topic_repartitioned
from eosctl.checks.configuration.topic.retention_on_compacted_topic import retention_on_compacted_topic
from eosctl.checks.configuration.topic.retention_shorter_than_transaction import retention_shorter_than_transaction
from eosctl.checks.declaration import Check

ALL_RULES: Final[tuple[Rule, ...]] = (
    commit_interval_over_transaction_timeout,
    unprefixed_transaction_timeout,
    commit_interval_unchecked_before_3_0,
    commit_interval_without_margin,
    transaction_timeout_over_broker_maximum,
    flink_default_transaction_timeout,
    high_broker_maximum_timeout,
    transactional_without_idempotence,
    idempotence_without_all_acks,
    idempotence_without_retries,
    idempotence_with_many_in_flight,
    streams_with_many_in_flight,
    streams_ignores_setting,
    delivery_timeout_too_short,
    transaction_shorter_than_delivery,
    short_max_block,
    two_phase_commit_with_timeout,
    reads_uncommitted,
    auto_commit_beside_transactions,
    poll_interval_shorter_than_transaction,
    heartbeat_not_below_session,
    session_outside_broker_bounds,
    segment_smaller_than_batch,
    transaction_log_settings_not_durable,
    min_isr_equals_replication_factor,
    min_isr_over_replication_factor,
    broker_defaults_not_durable,
    offsets_topic_not_durable,
    unclean_leader_election,
    streams_internal_topics_not_replicated,
    producer_state_expires_before_delivery,
    transactional_ids_expire_early,
    offsets_expire_early,
    retention_shorter_than_transaction,
    producer_state_expires_early,
    random_transactional_id,
    shared_transactional_id,
    ephemeral_state_directory,
    guarantee_not_known,
    partition_verification_off,
    connector_requires_exactly_once,
    workers_disagree,
    mirror_maker_reads_uncommitted,
    librdkafka_contradiction,
    log_cleaner_off,
    retention_on_compacted_topic,
    flink_timeout_shorter_than_checkpoint,
    linger_not_below_message_timeout,
    classic_setting_with_new_protocol,
    brokers_disagree,
    value_not_allowed,
    misspelled_setting,
    exception_handler_swallows,
    idempotence_switched_off,
    connector_swallows_errors,
    worker_topics_not_durable,
    failure_detection_slower_than_transaction,
    timeouts_swept_rarely,
    internal_topic_redefined,
    flink_without_id_prefix,
    takeover_waits_for_transaction,
    internal_topic_repartitioned,
    internal_topic_may_be_deleted,
    state_directory_shared,
    brokers_too_old_for_guarantee,
    instances_differ_in_guarantee,
    metadata_version_behind,
    verification_during_old_roll,
    connector_without_boundaries,
    connect_producer_reorders,
    librdkafka_taken_for_java,
    spring_prefix_of_many_instances,
    future_timestamps_refused,
    literal_access_rule_with_star,
    topic_setting_without_prefix,
    streams_assignor_replaced,
    two_cache_sizes,
    static_member_of_streams_protocol,
    static_member_twice,
    retries_bounded,
    authorizer_is_gone,
    zookeeper_with_kraft,
    removed_setting,
    setting_not_there_yet,
    offset_commits_acknowledged_early,
    brokers_stop_uncontrolled,
    requests_larger_than_accepted,
    connector_transaction_outlives_timeout,
    worker_refuses_overrides,
    boundary_interval_unused,
    exactly_once_still_prepared,
    standalone_worker_exactly_once,
    flink_without_checkpoints,
    flink_checkpoints_discarded,
    spring_retry_topics_with_transactions,
    mirror_maker_old_names,
    exactly_once_without_cluster,
    mirror_maker_without_internal_rest,
    mirror_maker_cycle,
    mirror_maker_topics_not_durable,
    anonymous_listener_beside_authorizer,
    open_without_rules,
    anonymous_super_user,
    host_names_not_verified,
    password_in_clear,
    no_standby_tasks,
    state_only_in_memory,
    dead_letters_not_durable,
    log_directory_is_temporary,
    starts_at_the_end,
    coordinator_segments_large,
    maximum_below_client_defaults,
    no_cleaner_threads,
    markers_removed_early,
    upgrade_from_left_behind,
    auto_commit_without_group,
    poll_interval_below_session,
    keyword_not_there,
    two_phase_commit_not_carried_out,
    share_consumer_refuses_setting,
)
CONFIGURATION_CHECKS: Final[tuple[Check, ...]] = tuple(rule.check for rule in ALL_RULES)


def rules_reading(setting: str) -> tuple[Rule, ...]:
    """Return the rules that judge a setting, by whatever prefix they read it."""
    return tuple(
        rule for rule in ALL_RULES if any(name == setting or name.endswith(f".{setting}") for name in rule.reads)
    )
