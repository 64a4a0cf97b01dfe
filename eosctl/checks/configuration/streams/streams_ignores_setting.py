"""EOS-CFG-015."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

READ: Final = frozenset({"enable.idempotence", "transactional.id", "isolation.level", "enable.auto.commit"})


@check(
    "EOS-CFG-015",
    "Setting that an exactly-once Streams application ignores",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.STREAMS,),
    reads=("enable.idempotence", "transactional.id", "isolation.level", "enable.auto.commit"),
    references=("KIP-129",),
)
def streams_ignores_setting(case: Case) -> Iterator[Problem]:
    """Find settings that Streams replaces by its own under exactly-once.

    What it checks:
        enable.idempotence, transactional.id, isolation.level and enable.auto.commit, in the application or under a
        client prefix, with another value than the one that Streams uses.

    Why it matters for exactly-once:
        The file is misleading: Streams generates the ids, reads only committed records, and commits offsets in the
        transaction.

    Example:
        consumer.isolation.level=read_uncommitted in an exactly-once application; it reads committed records all the
        same.

    Fix:
        Remove the key.

    Verify:
        eosctl config lint reports it no longer.
    """
    for client in case.deployment.of(Role.PRODUCER, Role.CONSUMER):
        if client.inside is not Role.STREAMS:
            continue
        for name in sorted(client.forced & client.given.keys()):
            given, used = client.given[name], client.framework.get(name)
            if name not in READ or not given.resolved or (given.word or "").lower() == used:
                continue
            yield problem(
                client,
                (given,),
                f"Streams ignores {given.key}={given.text} under exactly-once and uses {used}.",
                impact="None at run time; the file says something that is not so.",
                remedy=f"Remove {given.key}.",
            )
