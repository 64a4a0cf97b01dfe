"""Compare the findings of `eosctl doctor` with the expected ones."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from eosctl.checks.declaration import Case
from eosctl.checks.registry import ALL_CHECKS, check_id_of, names_of
from eosctl.checks.runner import diagnose
from eosctl.client import connect
from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.errors import unknown_name
from eosctl.lab.engine import Engine
from eosctl.lab.scenarios.steps.play import Play

SECOND_LOOK_MS = 500


def require_known(ids: Iterable[str]) -> None:
    """Check that checks with these ids or names exist.

    Raises:
        UsageError: One does not exist.
    """
    known = names_of(ALL_CHECKS)
    for each in ids:
        if each.lower() not in {name.lower() for name in known}:
            raise unknown_name("check", each, known, "List them: eosctl check list")


async def judge(play: Play, fire: Sequence[str], silent: Sequence[str]) -> None:
    """Expect findings or no findings of checks now; without any, the cluster is not inspected."""
    if not fire and not silent:
        return
    found = await firing_checks(play.engine, play.chance)
    for ids, expected in ((fire, "finds something"), (silent, "finds nothing")):
        for each in ids:
            observed = "finds something" if check_id_of(each) in found else "finds nothing"
            play.expect(f"the check {each}", expected, observed)


async def firing_checks(engine: Engine, chance: random.Random) -> frozenset[str]:
    """Return the ids of the checks with findings on a cluster."""
    observer = Observer(engine.now_ms, second_look_after_ms=SECOND_LOOK_MS)
    own = random.Random(chance.random())
    async with connect(engine.config, connector=engine.connector, chance=own, allowed_apis=READ_ONLY_APIS) as client:
        snapshot = await collect_snapshot(client, observer)
    return frozenset(finding.check_id for finding in diagnose(ALL_CHECKS, Case(snapshot)).findings)
