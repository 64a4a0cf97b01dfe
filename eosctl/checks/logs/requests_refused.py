"""EOS-LOG-005."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.logs.log_incidents import NEEDS, problems_of, without_logs
from eosctl.model.severity import Severity

KINDS: Final = frozenset(
    {
        "transactional_id_authorization",
        "group_authorization",
        "topic_authorization",
        "observation_denied",
        "invalid_transaction_timeout",
        "invalid_streams_config",
        "record_too_large",
    }
)


@check(
    "EOS-LOG-005",
    "Requests refused by brokers in the logs",
    Area.LOGS,
    Severity.ERROR,
    needs=NEEDS,
    tags=("configuration", "security", "logs"),
    references=(
        "KIP-98",
        "KIP-140",
        "transaction.max.timeout.ms",
        "max.message.bytes",
    ),
    applies=without_logs,
)
def requests_refused(case: Case) -> Iterator[Problem]:
    """Find applications that cannot work until a setting or an access rule changes.

    What it checks:
        Logs of applications and brokers: missing access to a transactional id, group, or topic, timeouts above the
        broker's maximum, settings that Streams refuses, records that are too large. What a principal that only
        observes may not describe is information.

    Why it matters for exactly-once:
        None of these heals with time or retries: the application makes no progress, or ends.

    Example:
        TransactionalIdAuthorizationException after an id got a new prefix.

    Fix:
        What the finding says; eosctl check acl prints the smallest set of rules.

    Verify:
        eosctl doctor --logs with logs written since then: EOS-LOG-005 passes.
    """
    yield from problems_of(case, KINDS)
