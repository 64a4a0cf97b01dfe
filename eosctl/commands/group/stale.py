"""For ``eosctl group pending``: offsets of which a live coordinator says something else than its log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eosctl.commands.session import resolve_connection
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    from eosctl.model.evidence import EvidenceGap
    from eosctl.model.group_commit import StaleOffset
    from eosctl.model.snapshot import ClusterSnapshot


def find_stale(
    connection: Connection, evidence: ClusterSnapshot, groups: Sequence[str]
) -> tuple[tuple[StaleOffset, ...], tuple[EvidenceGap, ...]]:
    """Ask the cluster that the evidence is of; returns what disagrees, and what could not be read."""
    import asyncio

    from eosctl.client.client import connect
    from eosctl.collect.allowed import READ_ONLY_APIS
    from eosctl.collect.offset_log import collect_stale_offsets
    from eosctl.collect.reader import ReadOnly

    resolved = resolve_connection(connection)

    async def ask() -> tuple[tuple[StaleOffset, ...], tuple[EvidenceGap, ...]]:
        async with connect(resolved.config, allowed_apis=READ_ONLY_APIS) as client:
            probed = await collect_stale_offsets(ReadOnly(client), evidence, groups)
        return probed.value, probed.gaps

    return asyncio.run(ask())
