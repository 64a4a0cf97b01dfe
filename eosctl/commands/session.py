"""From connection options to a snapshot: the only way in which commands reach a cluster."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from eosctl.commands.invocation import note
from eosctl.errors import UsageError
from eosctl.render.progress import show_progress

if TYPE_CHECKING:
    from eosctl.collect.transactions import TransactionQuery
    from eosctl.model.evidence import EvidenceKind
    from eosctl.model.snapshot import ClusterSnapshot
    from eosctl.settings.client_resolution import ResolvedClient


class Connection(msgspec.Struct, frozen=True):
    """The connection options as they were given."""

    bootstrap: str | None = None
    command_config: Path | None = None
    overrides: tuple[str, ...] = ()
    profile: str | None = None
    timeout_ms: int | None = None

    @property
    def is_given(self) -> bool:
        """Whether any option names a cluster."""
        return any((self.bootstrap, self.command_config, self.overrides, self.profile))

    @property
    def option_text(self) -> str:
        """The options for a command that follows this one, quoted for the shell; ``-X`` may hold a secret."""
        given = {"-b": self.bootstrap, "--command-config": self.command_config, "--profile": self.profile}
        return " ".join(f"{option} {shlex.quote(str(value))}" for option, value in given.items() if value is not None)


def resolve_connection(connection: Connection) -> ResolvedClient:
    """Build the client configuration and say on standard error whom it talks to.

    Raises:
        EosctlError: The settings do not make a configuration.
    """
    from eosctl.settings.client_resolution import resolve_client

    resolved = resolve_client(
        os.environ,
        bootstrap=connection.bootstrap,
        command_config=connection.command_config,
        overrides=connection.overrides,
        profile=connection.profile,
    )
    for warning in resolved.warnings:
        note(f"warning: {warning}")
    if connection.timeout_ms is not None:
        config = replace(
            resolved.config,
            timeout_ms=connection.timeout_ms,
            request_timeout_ms=min(resolved.config.request_timeout_ms, connection.timeout_ms),
            connect_timeout_ms=min(resolved.config.connect_timeout_ms, connection.timeout_ms),
        )
        resolved = replace(resolved, config=config)
    profile = f" (profile {resolved.profile})" if resolved.profile else ""
    note(f"cluster: {', '.join(str(endpoint) for endpoint in resolved.config.bootstrap)}{profile}")
    return resolved


def capture(
    connection: Connection,
    kinds: frozenset[EvidenceKind] | None,
    *,
    now_ms: Callable[[], int],
    second_look_after_ms: int,
    query: TransactionQuery | None = None,
    explaining: frozenset[EvidenceKind] = frozenset(),
    describing: frozenset[EvidenceKind] = frozenset(),
) -> ClusterSnapshot:
    """Collect a snapshot of the cluster that the options name.

    Args:
        connection: The options.
        kinds: What to collect; everything when None.
        now_ms: The observer's clock.
        second_look_after_ms: Pause between the two looks.
        query: Which transactional ids matter; all when None.
        explaining: Those of the kinds that are needed only where something is in doubt.
        describing: Those that are needed only where something is in doubt or long open.

    Raises:
        EosctlError: Nobody could be asked.
    """
    import asyncio

    from eosctl.client.client import connect
    from eosctl.collect.allowed import READ_ONLY_APIS
    from eosctl.collect.collector import EVERYTHING, Observer, collect_snapshot
    from eosctl.collect.transactions import EVERY_TRANSACTION

    resolved = resolve_connection(connection)
    collected: list[ClusterSnapshot] = []

    async def collect() -> None:
        with show_progress() as progress:
            observer = Observer(
                now_ms,
                second_look_after_ms=second_look_after_ms,
                progress=progress,
                query=query or EVERY_TRANSACTION,
                explaining=explaining,
                describing=describing,
            )
            async with connect(resolved.config, allowed_apis=READ_ONLY_APIS) as client:
                collected.append(await collect_snapshot(client, observer, EVERYTHING if kinds is None else kinds))

    # Not the task's result: asyncio.run, while it restores the signal handler, has every result printed by repr().
    asyncio.run(collect())
    return replace(collected[0], command_config=str(resolved.command_config or ""))


def load_or_capture(
    connection: Connection,
    snapshot_file: Path | None,
    kinds: frozenset[EvidenceKind] | None,
    *,
    now_ms: Callable[[], int],
    second_look_after_ms: int,
    query: TransactionQuery | None = None,
    explaining: frozenset[EvidenceKind] = frozenset(),
    describing: frozenset[EvidenceKind] = frozenset(),
) -> ClusterSnapshot:
    """Return the saved snapshot if one is named, else a new one.

    Raises:
        UsageError: Both a snapshot and a cluster were named.
        EosctlError: Neither can be read.
    """
    if snapshot_file is None:
        return capture(
            connection,
            kinds,
            now_ms=now_ms,
            second_look_after_ms=second_look_after_ms,
            query=query,
            explaining=explaining,
            describing=describing,
        )
    if connection.is_given:
        raise UsageError(
            "--snapshot and a cluster were both given.",
            "A saved snapshot is read instead of a cluster.",
            "Leave one of them out.",
        )
    from eosctl.collect.bundles.snapshot_file import load_snapshot

    return load_snapshot(snapshot_file)
