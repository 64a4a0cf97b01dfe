"""EOS-CFG-169."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity
from eosctl.text import milliseconds_text

ENABLED: Final = "enable.transactional.statestores"
LIMIT: Final = "statestore.uncommitted.max.bytes"
INTERVAL: Final = "commit.interval.ms"
SINCE: Final = (4, 4)
#: Ten times the default under exactly-once.
LONG_MS: Final = 1_000


@check(
    "EOS-CFG-169",
    "Uncommitted writes of state stores are unbounded",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.STREAMS,),
    reads=(ENABLED, LIMIT, INTERVAL),
    references=("KIP-892",),
)
def uncommitted_writes_unbounded(case: Case) -> Iterator[Problem]:
    """Find transactional state stores without a limit of memory, in applications that commit seldom.

    What it checks:
        statestore.uncommitted.max.bytes=-1 with enable.transactional.statestores=true (4.4 or later), and
        commit.interval.ms above 1 s. At-least-once commits every 30 s unless it is set.

    Why it matters for exactly-once:
        Transactional stores keep each write in memory until its transaction has committed, twice: on the heap and in
        RocksDB's batch outside of it. Without a limit, an instance that catches up can run out of memory before the
        next commit, restart, and run out again.

    Example:
        statestore.uncommitted.max.bytes=-1 with commit.interval.ms=30000.

    Fix:
        Remove statestore.uncommitted.max.bytes (64 MiB for the instance), or shorten commit.interval.ms.

    Verify:
        eosctl config lint reports it no longer.
    """
    for streams in case.deployment.of(Role.STREAMS):
        enabled, limit, interval = streams.value(ENABLED), streams.value(LIMIT), streams.value(INTERVAL)
        if streams.release < SINCE or enabled.flag is not True or limit.number != -1:
            continue
        if interval.number is not None and interval.number > LONG_MS:
            yield problem(
                streams,
                (limit, enabled, *((interval,) if interval.is_given else ())),
                f"{LIMIT} is -1, and {INTERVAL} is {milliseconds_text(interval.number)}.",
                impact="Writes of a whole commit interval are kept in memory, twice; a burst of input can exhaust it.",
                remedy=f"Remove {LIMIT}=-1, or set {INTERVAL} to 1000 or less.",
            )
