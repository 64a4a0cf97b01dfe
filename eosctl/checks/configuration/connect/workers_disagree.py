"""EOS-CFG-062."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role, Value
from eosctl.model.severity import Severity

ORDER: Final = {"disabled": 0, "preparing": 1, "enabled": 2}


@check(
    "EOS-CFG-062",
    "Workers of one group differ in exactly-once support",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.CONNECT_WORKER,),
    reads=("exactly.once.source.support", "group.id"),
    references=("KIP-618",),
)
def workers_disagree(case: Case) -> Iterator[Problem]:
    """Find Connect workers of one group with different exactly-once settings.

    What it checks:
        exactly.once.source.support of workers with the same group.id. A proper rollout mixes only disabled with
        preparing, and preparing with enabled, never disabled with enabled.

    Why it matters for exactly-once:
        A worker without the support does not fence: as a zombie it can write to the config topic and run tasks
        twice.

    Example:
        Two of three worker files were changed.

    Fix:
        Set the same value everywhere: preparing in one rolling restart, enabled in the next.

    Verify:
        eosctl config lint reports it no longer.
    """
    groups: dict[str, list[tuple[Component, Value]]] = {}
    for worker in case.deployment.of(Role.CONNECT_WORKER):
        support = worker.value("exactly.once.source.support")
        if support.word is not None and worker.word("group.id") is not None:
            groups.setdefault(worker.word("group.id") or "", []).append((worker, support))
    for group, members in groups.items():
        words = {(support.word or "").lower() for _, support in members}
        if len(words) < 2:
            continue
        worker, least = min(members, key=lambda member: ORDER.get((member[1].word or "").lower(), 0))
        _, most = max(members, key=lambda member: ORDER.get((member[1].word or "").lower(), 0))
        yield problem(
            worker,
            (least, most),
            f"Workers of group {group} have exactly.once.source.support {' and '.join(sorted(words))}.",
            severity=None if {"disabled", "enabled"} <= words else Severity.WARNING,
            impact="A worker without the support is not fenced as a zombie.",
            remedy="Set one value on all workers: preparing in one rolling restart, enabled in the next.",
        )
