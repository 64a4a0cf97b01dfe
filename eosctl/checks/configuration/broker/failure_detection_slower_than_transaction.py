"""EOS-CFG-095."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import minutes, transactional_producers
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-095",
    "A dead broker is noticed after transactions have timed out",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(
        Role.BROKER,
        Role.PRODUCER,
    ),
    reads=("broker.session.timeout.ms", "zookeeper.session.timeout.ms", "transaction.timeout.ms"),
    references=("KIP-631",),
)
def failure_detection_slower_than_transaction(case: Case) -> Iterator[Problem]:
    """Find brokers whose death is noticed later than transactions time out.

    What it checks:
        broker.session.timeout.ms (zookeeper.session.timeout.ms before KRaft), where it was written down, against
        the shortest transaction timeout of the applications given; against 60,000 ms, the producers' default, when
        none is. Equal values fail.

    Why it matters for exactly-once:
        Until a dead leader is replaced its partitions take no writes. When that lasts longer than the timeout,
        every transaction that touches them is aborted, and its producer fenced.

    Example:
        broker.session.timeout.ms=30000 with Streams applications and their timeout of 10,000 ms.

    Fix:
        Keep the session well below the shortest transaction timeout; the default is 9,000 ms.

    Verify:
        eosctl config lint reports it no longer.
    """
    timeouts = [p.value("transaction.timeout.ms") for p in transactional_producers(case.deployment)]
    known = [(t.number, t) for t in timeouts if t.number is not None and t.number > 0]
    shortest, deciding = min(known, key=lambda pair: pair[0]) if known else (60_000, None)
    for broker in case.deployment.of(Role.BROKER):
        for name in ("broker.session.timeout.ms", "zookeeper.session.timeout.ms"):
            session = broker.value(name)
            if session.is_given and session.number is not None and session.number >= shortest:
                yield problem(
                    broker,
                    (session,) if deciding is None else (session, deciding),
                    f"{name} is {minutes(session.number)}, the shortest transaction timeout {minutes(shortest)}.",
                    impact="The death of one broker aborts the open transactions on it.",
                    remedy=f"Set {name} well below {shortest}.",
                )
