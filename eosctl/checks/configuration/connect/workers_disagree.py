"""EOS-CFG-062."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role, Value
from eosctl.model.severity import Severity

_STORAGE: Final = ("config.storage.topic", "offset.storage.topic", "status.storage.topic")
ORDER: Final = {"disabled": 0, "preparing": 1, "enabled": 2}


@check(
    "EOS-CFG-062",
    "Workers of one group differ in exactly-once support",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.CONNECT_WORKER,),
    reads=("exactly.once.source.support", "group.id", *_STORAGE),
    references=("KIP-618",),
)
def workers_disagree(case: Case) -> Iterator[Problem]:
    """Find Connect workers of one group with different exactly-once settings.

    What it checks:
        exactly.once.source.support of workers with the same group.id. A proper rollout mixes only disabled with
        preparing, and preparing with enabled, never disabled with enabled. Also workers with the same group.id and the
        same brokers, none of whose internal topics is the same: these are two clusters.

    Why it matters for exactly-once:
        A worker without the support does not fence: as a zombie it can write to the config topic and run tasks
        twice. Two clusters with one group.id are one group: its leader reads the connectors of one cluster only, and
        the leaders fence each other, as connect-cluster-GROUP is the transactional id of both.

    Example:
        Two of three worker files were changed.

    Fix:
        Set the same value everywhere: preparing in one rolling restart, enabled in the next. Give each
        cluster a group.id of its own.

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
    yield from _two_clusters(case)


def _two_clusters(case: Case) -> Iterator[Problem]:
    """Yield the workers with the group of another cluster, which has other topics on the same brokers."""
    first: dict[tuple[str, str], tuple[Component, frozenset[str]]] = {}
    for worker in case.deployment.of(Role.CONNECT_WORKER):
        group = worker.value("group.id")
        brokers = ",".join(sorted((worker.word("bootstrap.servers") or "").replace(" ", "").split(",")))
        topics = frozenset(topic for name in _STORAGE if (topic := worker.word(name)))
        if not group.word or not group.is_given or not brokers or len(topics) < len(_STORAGE) or worker.environment:
            continue
        other, others = first.setdefault((group.word, brokers), (worker, topics))
        if topics.isdisjoint(others):
            yield problem(
                worker,
                (group, other.value("group.id")),
                f"{group.key}={group.word} is that of {other.value('group.id').place}, with other internal topics.",
                impact="Both clusters are one group: connectors of one do not run, and the leaders fence each other.",
                remedy="Give each cluster a group.id of its own.",
            )
