"""From the choice of a cluster to the configuration of a client."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from eosctl.services.connection import Connection
from eosctl.settings.clusters.client_resolution import ResolvedClient, resolve_client


def resolve_connection(
    connection: Connection,
    remark: Callable[[str], None],
    environment: Mapping[str, str] = os.environ,
    *,
    spent_ms: int = 0,
) -> ResolvedClient:
    """Return the configuration of a client for a cluster.

    Args:
        connection: The cluster.
        remark: Called with each warning, and with the cluster's address.
        environment: The variables that complete the connection.
        spent_ms: The part of the connection's timeout that is over already.

    Raises:
        EosctlError: The settings do not make a configuration.
    """
    resolved = resolve_client(
        environment,
        bootstrap=connection.bootstrap,
        command_config=connection.command_config,
        overrides=connection.overrides,
        profile=connection.profile,
    )
    for warning in resolved.warnings:
        remark(f"warning: {warning}")
    if connection.requests_per_second is not None:
        limited = replace(resolved.config, requests_per_second=connection.requests_per_second)
        resolved = replace(resolved, config=limited)
    if connection.timeout_ms is not None:
        # One broker that does not answer leaves time for the others.
        half_ms = max(0, connection.timeout_ms - spent_ms) // 2
        config = replace(
            resolved.config,
            timeout_ms=connection.timeout_ms,
            request_timeout_ms=min(resolved.config.request_timeout_ms, half_ms),
            connect_timeout_ms=min(resolved.config.connect_timeout_ms, half_ms),
        )
        resolved = replace(resolved, config=config)
    profile = f" (profile {resolved.profile})" if resolved.profile else ""
    remark(f"cluster: {', '.join(str(endpoint) for endpoint in resolved.config.bootstrap)}{profile}")
    return resolved
