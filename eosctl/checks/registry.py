"""All checks, named one by one: what is not here does not run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eosctl.checks.broker.broker_fenced import broker_fenced
from eosctl.checks.broker.broker_min_isr_without_effect import broker_min_isr_without_effect
from eosctl.checks.broker.broker_refuses_default_timeouts import broker_refuses_default_timeouts
from eosctl.checks.broker.broker_unreachable import broker_unreachable
from eosctl.checks.broker.brokers_differ import brokers_differ
from eosctl.checks.broker.log_cleaner_disabled import log_cleaner_disabled
from eosctl.checks.broker.mixed_api_versions import mixed_api_versions
from eosctl.checks.broker.partition_verification_disabled import partition_verification_disabled
from eosctl.checks.broker.too_few_brokers import too_few_brokers
from eosctl.checks.broker.transaction_log_not_durable import transaction_log_not_durable
from eosctl.checks.broker.transaction_version_not_finalized import transaction_version_not_finalized
from eosctl.checks.broker.unclean_leader_election_enabled import unclean_leader_election_enabled
from eosctl.checks.capacity.coordinators_on_few_brokers import coordinators_on_few_brokers
from eosctl.checks.capacity.producer_ids_crowd_a_partition import producer_ids_crowd_a_partition
from eosctl.checks.capacity.too_many_replicas_on_broker import too_many_replicas_on_broker
from eosctl.checks.capacity.transactional_ids_pile_up import transactional_ids_pile_up
from eosctl.checks.configuration.registry import CONFIGURATION_CHECKS
from eosctl.checks.declaration import Check
from eosctl.checks.group.idle_group_offsets_expire import idle_group_offsets_expire
from eosctl.checks.group.members_without_partitions import members_without_partitions
from eosctl.checks.group.mixed_group_protocols import mixed_group_protocols
from eosctl.checks.group.offsets_held_by_old_transaction import offsets_held_by_old_transaction
from eosctl.checks.group.position_beyond_the_end import position_beyond_the_end
from eosctl.checks.group.position_was_deleted import position_was_deleted
from eosctl.checks.logs.brokers_failed import brokers_failed
from eosctl.checks.logs.hanging_transaction_logged import hanging_transaction_logged
from eosctl.checks.logs.producers_refused import producers_refused
from eosctl.checks.logs.records_call_for_action import records_call_for_action
from eosctl.checks.logs.requests_refused import requests_refused
from eosctl.checks.logs.sequence_numbers_refused import sequence_numbers_refused
from eosctl.checks.logs.stopped_uncleanly import stopped_uncleanly
from eosctl.checks.logs.streams_applications_failed import streams_applications_failed
from eosctl.checks.logs.transactions_timed_out import transactions_timed_out
from eosctl.checks.operations.coordinator_clock_ahead import coordinator_clock_ahead
from eosctl.checks.operations.coordinator_loads_slowly import coordinator_loads_slowly
from eosctl.checks.operations.disk_nearly_full import disk_nearly_full
from eosctl.checks.operations.leaders_not_preferred import leaders_not_preferred
from eosctl.checks.operations.log_cleaner_stopped import log_cleaner_stopped
from eosctl.checks.operations.log_directory_failed import log_directory_failed
from eosctl.checks.operations.no_controller_answers import no_controller_answers
from eosctl.checks.operations.quorum_of_two import quorum_of_two
from eosctl.checks.operations.quorum_replica_lags import quorum_replica_lags
from eosctl.checks.operations.replicas_out_of_sync import replicas_out_of_sync
from eosctl.checks.security.anonymous_listener import anonymous_listener
from eosctl.checks.security.anyone_may_use_transactional_ids import anyone_may_use_transactional_ids
from eosctl.checks.security.group_not_readable import group_not_readable
from eosctl.checks.security.internal_topics_may_be_changed import internal_topics_may_be_changed
from eosctl.checks.security.literal_rule_with_star import literal_rule_with_star
from eosctl.checks.security.transactional_id_described_only import transactional_id_described_only
from eosctl.checks.topic.deletions_forgotten_early import deletions_forgotten_early
from eosctl.checks.topic.internal_topic_altered import internal_topic_altered
from eosctl.checks.topic.last_stable_offset_far_behind import last_stable_offset_far_behind
from eosctl.checks.topic.min_isr_over_replicas import min_isr_over_replicas
from eosctl.checks.topic.offline_replicas import offline_replicas
from eosctl.checks.topic.offsets_topic_not_durable import offsets_topic_not_durable
from eosctl.checks.topic.partition_at_min_isr import partition_at_min_isr
from eosctl.checks.topic.partition_under_min_isr import partition_under_min_isr
from eosctl.checks.topic.partition_without_leader import partition_without_leader
from eosctl.checks.topic.replicas_in_one_rack import replicas_in_one_rack
from eosctl.checks.topic.transactional_topic_not_durable import transactional_topic_not_durable
from eosctl.checks.transaction.aborted_by_timeout import aborted_by_timeout
from eosctl.checks.transaction.epoch_nearly_used_up import epoch_nearly_used_up
from eosctl.checks.transaction.fenced_mid_transaction import fenced_mid_transaction
from eosctl.checks.transaction.hanging_transaction import hanging_transaction
from eosctl.checks.transaction.late_transactions_counted import late_transactions_counted
from eosctl.checks.transaction.long_running_transaction import long_running_transaction
from eosctl.checks.transaction.markers_wait import markers_wait
from eosctl.checks.transaction.ongoing_past_timeout import ongoing_past_timeout
from eosctl.checks.transaction.open_on_leaderless_partition import open_on_leaderless_partition
from eosctl.checks.transaction.producers_fenced_often import producers_fenced_often
from eosctl.checks.transaction.stalled_in_prepare import stalled_in_prepare
from eosctl.checks.transaction.streams_commits_slow import streams_commits_slow
from eosctl.checks.transaction.transaction_never_times_out import transaction_never_times_out
from eosctl.checks.transaction.transaction_timeout_long import transaction_timeout_long
from eosctl.checks.upgrade.clients_without_second_protocol import clients_without_second_protocol
from eosctl.checks.upgrade.metadata_version_not_raised import metadata_version_not_raised
from eosctl.checks.upgrade.settings_gone_in_next_release import settings_gone_in_next_release

ALL_CHECKS: Final[tuple[Check, ...]] = (
    hanging_transaction,
    stalled_in_prepare,
    ongoing_past_timeout,
    fenced_mid_transaction,
    long_running_transaction,
    aborted_by_timeout,
    transaction_log_not_durable,
    too_few_brokers,
    partition_verification_disabled,
    unclean_leader_election_enabled,
    mixed_api_versions,
    transaction_version_not_finalized,
    partition_without_leader,
    partition_under_min_isr,
    offline_replicas,
    internal_topic_altered,
    last_stable_offset_far_behind,
    offsets_held_by_old_transaction,
    idle_group_offsets_expire,
    position_was_deleted,
    position_beyond_the_end,
    members_without_partitions,
    mixed_group_protocols,
    min_isr_over_replicas,
    partition_at_min_isr,
    replicas_in_one_rack,
    offsets_topic_not_durable,
    transactional_topic_not_durable,
    deletions_forgotten_early,
    broker_unreachable,
    broker_fenced,
    log_cleaner_disabled,
    brokers_differ,
    broker_refuses_default_timeouts,
    broker_min_isr_without_effect,
    open_on_leaderless_partition,
    epoch_nearly_used_up,
    transaction_never_times_out,
    transaction_timeout_long,
    producer_ids_crowd_a_partition,
    coordinators_on_few_brokers,
    transactional_ids_pile_up,
    too_many_replicas_on_broker,
    metadata_version_not_raised,
    clients_without_second_protocol,
    settings_gone_in_next_release,
    literal_rule_with_star,
    internal_topics_may_be_changed,
    anyone_may_use_transactional_ids,
    transactional_id_described_only,
    group_not_readable,
    anonymous_listener,
    coordinator_clock_ahead,
    no_controller_answers,
    quorum_of_two,
    quorum_replica_lags,
    log_directory_failed,
    disk_nearly_full,
    replicas_out_of_sync,
    leaders_not_preferred,
    producers_refused,
    transactions_timed_out,
    hanging_transaction_logged,
    sequence_numbers_refused,
    requests_refused,
    brokers_failed,
    streams_applications_failed,
    stopped_uncleanly,
    records_call_for_action,
    markers_wait,
    late_transactions_counted,
    producers_fenced_often,
    streams_commits_slow,
    coordinator_loads_slowly,
    log_cleaner_stopped,
)
"""What a doctor runs on a cluster."""

CATALOGUE: Final[tuple[Check, ...]] = (*ALL_CHECKS, *CONFIGURATION_CHECKS)
"""Every check there is: those of a cluster, and those of configuration files."""


def find_check(check_id: str) -> Check | None:
    """Return the check with this id, in any case, or None."""
    return next((check for check in CATALOGUE if check.id == check_id.upper()), None)


def select_checks(selectors: Sequence[str], among: tuple[Check, ...] = ALL_CHECKS) -> tuple[Check, ...]:
    """Return the checks that any selector names: an id, an area (``TXN``) or a tag; all of them without selectors.

    Args:
        selectors: What to choose.
        among: Where to look; those of a cluster.

    Raises:
        LookupError: A selector names nothing; its argument is the selector.
    """
    if not selectors:
        return among
    for selector in selectors:
        if not any(_is_named(check, selector) for check in among):
            raise LookupError(selector)
    return tuple(check for check in among if any(_is_named(check, selector) for selector in selectors))


def _is_named(check: Check, selector: str) -> bool:
    return selector.upper() in (check.id, check.area.value) or selector.lower() in check.tags
