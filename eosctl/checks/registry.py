"""All checks, named one by one: what is not here does not run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eosctl.checks.broker.mixed_api_versions import mixed_api_versions
from eosctl.checks.broker.partition_verification_disabled import partition_verification_disabled
from eosctl.checks.broker.transaction_log_not_durable import transaction_log_not_durable
from eosctl.checks.broker.transaction_version_not_finalized import transaction_version_not_finalized
from eosctl.checks.broker.unclean_leader_election_enabled import unclean_leader_election_enabled
from eosctl.checks.configuration.registry import CONFIGURATION_CHECKS
from eosctl.checks.declaration import Check
from eosctl.checks.topic.internal_topic_altered import internal_topic_altered
from eosctl.checks.topic.last_stable_offset_far_behind import last_stable_offset_far_behind
from eosctl.checks.topic.offline_replicas import offline_replicas
from eosctl.checks.topic.partition_under_min_isr import partition_under_min_isr
from eosctl.checks.topic.partition_without_leader import partition_without_leader
from eosctl.checks.transaction.aborted_by_timeout import aborted_by_timeout
from eosctl.checks.transaction.fenced_mid_transaction import fenced_mid_transaction
from eosctl.checks.transaction.hanging_transaction import hanging_transaction
from eosctl.checks.transaction.long_running_transaction import long_running_transaction
from eosctl.checks.transaction.ongoing_past_timeout import ongoing_past_timeout
from eosctl.checks.transaction.stalled_in_prepare import stalled_in_prepare

ALL_CHECKS: Final[tuple[Check, ...]] = (
    hanging_transaction,
    stalled_in_prepare,
    ongoing_past_timeout,
    fenced_mid_transaction,
    long_running_transaction,
    aborted_by_timeout,
    transaction_log_not_durable,
    partition_verification_disabled,
    unclean_leader_election_enabled,
    mixed_api_versions,
    transaction_version_not_finalized,
    partition_without_leader,
    partition_under_min_isr,
    offline_replicas,
    internal_topic_altered,
    last_stable_offset_far_behind,
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
