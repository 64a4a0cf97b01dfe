"""EOS-CFG-178."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role, Value
from eosctl.model.severity import Severity

_SYNC: Final = "sync.group.offsets.enabled"
_EMIT: Final = "emit.checkpoints.enabled"
_RESOURCE: Final = "kind: KafkaMirrorMaker2"


@check(
    "EOS-CFG-178",
    "MirrorMaker does not synchronize group offsets",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.MIRROR_MAKER, Role.SOURCE_CONNECTOR),
    reads=(_SYNC, _EMIT),
    references=("KIP-545", "MirrorCheckpointConnector"),
)
def mirror_maker_syncs_no_offsets(case: Case) -> Iterator[Problem]:
    """Find mirrors that are to synchronize the offsets of groups and cannot.

    What it checks:
        sync.group.offsets.enabled=true of a flow, or of a checkpoint connector, with emit.checkpoints.enabled=false:
        the connector then has no tasks. And the setting in the configuration of the source connector, which does not
        read it: with Strimzi in sourceConnector.config.

    Why it matters for exactly-once:
        After a failover the groups of the target cluster have no offsets. Their consumers start where
        auto.offset.reset puts them: they skip records, or read all of them again.

    Example:
        east->west.sync.group.offsets.enabled=true below emit.checkpoints.enabled=false.

    Fix:
        Set emit.checkpoints.enabled=true, or remove it. With Strimzi, move the setting to checkpointConnector.config.

    Verify:
        eosctl config lint reports it no longer.
    """
    for mirror in case.deployment.of(Role.MIRROR_MAKER, Role.SOURCE_CONNECTOR):
        for name, sync in mirror.given.items():
            prefix = name.removesuffix(_SYNC)
            if prefix == name or sync.flag is not True or (prefix and not prefix.endswith(".")):
                continue
            if _is_off(mirror, f"{prefix}enabled"):
                continue
            emit = mirror.given.get(f"{prefix}{_EMIT}") or mirror.given.get(_EMIT)
            if emit is not None and emit.flag is False:
                yield _without_checkpoints(mirror, sync, emit)
            elif not prefix and _is_of_source(mirror) and not _syncs_elsewhere(mirror):
                yield problem(
                    mirror,
                    (sync,),
                    f"{sync.key} is a setting of the checkpoint connector, and stands in the source connector's.",
                    impact="No offset of a group is synchronized.",
                    remedy=f"Move {sync.key} to the configuration of the checkpoint connector.",
                )


def _without_checkpoints(mirror: Component, sync: Value, emit: Value) -> Problem:
    return problem(
        mirror,
        (emit, sync),
        f"{sync.key} is true, but {emit.key} is false: the checkpoint connector has no tasks.",
        impact="No offset of a group is synchronized: after a failover consumers skip records or read them again.",
        remedy=f"Set {emit.key}=true.",
    )


def _is_off(mirror: Component, name: str) -> bool:
    found = mirror.given.get(name)
    return found is not None and found.flag is False


def _is_of_source(mirror: Component) -> bool:
    is_connector = (mirror.word("connector.class") or "").endswith("MirrorSourceConnector")
    return is_connector or mirror.recognized_by == _RESOURCE


def _syncs_elsewhere(mirror: Component) -> bool:
    """Return whether the checkpoint connector of the same mirror has the setting, too."""
    return any(
        name != _SYNC and name.endswith(f".{_SYNC}") and value.flag is True for name, value in mirror.given.items()
    )
