"""EOS-CFG-170."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.clients import exactly_once_streams
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

ENABLED: Final = "enable.transactional.statestores"
LEVEL: Final = "default.interactive.query.isolation.level"
SINCE: Final = (4, 4)


@check(
    "EOS-CFG-170",
    "Interactive queries read uncommitted writes of state stores",
    Area.CONFIGURATION,
    Severity.INFO,
    roles=(Role.STREAMS,),
    reads=(ENABLED, LEVEL, "processing.guarantee"),
    references=("KIP-892",),
)
def queries_read_uncommitted_writes(case: Case) -> Iterator[Problem]:
    """Find exactly-once applications with transactional stores in which queries read what may still be lost.

    What it checks:
        default.interactive.query.isolation.level is READ_UNCOMMITTED, its default, with exactly-once and
        enable.transactional.statestores=true (4.4 or later).

    Why it matters for exactly-once:
        A query then also reads writes of the open transaction. After a crash they are made again, perhaps in another
        way, and who has read them has acted on a result that never was. Without transactional stores, every query
        reads so.

    Example:
        enable.transactional.statestores=true, and a REST endpoint that reads a store.

    Fix:
        Set default.interactive.query.isolation.level=READ_COMMITTED if the application serves interactive queries.
        Results are then as old as the last commit.

    Verify:
        eosctl config lint reports it no longer.
    """
    for streams in exactly_once_streams(case.deployment):
        enabled, level = streams.value(ENABLED), streams.value(LEVEL)
        if streams.release < SINCE or enabled.flag is not True or (level.word or "").upper() != "READ_UNCOMMITTED":
            continue
        yield problem(
            streams,
            (enabled, *((level,) if level.is_given else ())),
            f"{LEVEL} is READ_UNCOMMITTED{'' if level.is_given else ' by default'}, with transactional stores.",
            impact="Interactive queries return writes that a crash takes back.",
            remedy=f"Set {LEVEL}=READ_COMMITTED if the application serves interactive queries.",
        )
