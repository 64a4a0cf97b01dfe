"""EOS-CFG-023."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import is_transactional, minutes
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-023",
    "Consumer is evicted before its transaction times out",
    Area.CONFIGURATION,
    Severity.INFO,
    roles=(Role.CONSUMER,),
    reads=("max.poll.interval.ms", "transaction.timeout.ms"),
    references=("KIP-447",),
)
def poll_interval_shorter_than_transaction(case: Case) -> Iterator[Problem]:
    """Find applications whose consumer leaves the group while its transaction may still be open.

    What it checks:
        max.poll.interval.ms, where it was written down, against transaction.timeout.ms of the same application.

    Why it matters for exactly-once:
        Nothing is written twice: the evicted member's commit is refused. But its transaction stays open until it is
        aborted, at the latest at its timeout: consumers with read_committed wait, and if the offsets were already sent,
        the new owner gets UNSTABLE_OFFSET_COMMIT until then.

    Example:
        max.poll.interval.ms=30000 with transaction.timeout.ms=60000.

    Fix:
        Let max.poll.interval.ms be at least transaction.timeout.ms, and process a batch in less than either.

    Verify:
        eosctl config lint reports it no longer.
    """
    for consumer in case.deployment.of(Role.CONSUMER):
        poll = consumer.value("max.poll.interval.ms")
        if not poll.is_given or poll.number is None or consumer.inside is Role.CONNECT_WORKER:
            continue
        for producer in case.deployment.same_application(consumer, Role.PRODUCER):
            timeout = producer.value("transaction.timeout.ms")
            if is_transactional(producer) and timeout.number is not None and poll.number < timeout.number:
                yield problem(
                    consumer,
                    (poll, timeout),
                    f"{poll.key} is {minutes(poll.number)}, the transaction timeout {minutes(timeout.number)}.",
                    impact="After an eviction the old transaction may stay open until it times out; readers wait.",
                    remedy=f"Set {poll.key} to {timeout.number} or more.",
                )
