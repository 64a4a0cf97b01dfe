"""Protected profiles protect their clusters, also from commands with another address.

A cluster is recognized by its id, which is recorded when a command reads it through the profile, and by the addresses
that the profile and the cluster's brokers share.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from eosctl.errors import ConfigFileError
from eosctl.services.profiles import find_profiles
from eosctl.settings.clusters.client_resolution import ResolvedClient
from eosctl.user_folders import state_home
from eosctl.whole_file import only_writer, whole_file

_FILE: Final = "protected-clusters.json"
_BOOTSTRAP: Final = "bootstrap.servers"


def protected_clusters_file() -> Path:
    """Return the file with the ids of protected clusters: `$XDG_STATE_HOME/eosctl/protected-clusters.json`."""
    return state_home() / "eosctl" / _FILE


def remember_cluster(resolved: ResolvedClient, cluster_id: str) -> None:
    """Record the id of a cluster that was read through a protected profile; without a writable file, nothing is kept.

    Raises:
        ConfigFileError: The file is damaged.
    """
    if not resolved.protected or resolved.profile is None or not cluster_id:
        return
    if _read().get(cluster_id) == resolved.profile:
        return
    path = protected_clusters_file()
    try:
        with only_writer(path), whole_file(path) as file:
            file.write(msgspec.json.encode(_read() | {cluster_id: resolved.profile}))
    except OSError:
        return


def protecting_profile(resolved: ResolvedClient, cluster_id: str, addresses: Iterable[str]) -> str | None:
    """Return the protected profile of a cluster, or None.

    Args:
        resolved: How the cluster was named.
        cluster_id: Its id; empty if it is not known.
        addresses: ``HOST:PORT`` of its brokers, as they advertise it.

    Raises:
        ConfigFileError: The profiles or the recorded ids cannot be read.
    """
    if resolved.protected:
        remember_cluster(resolved, cluster_id)
        return resolved.profile
    recorded = _read().get(cluster_id)
    present = {address.casefold() for address in (*addresses, *map(str, resolved.config.bootstrap))}
    for profile in find_profiles():
        given = profile.properties.get(_BOOTSTRAP)
        named = set() if given is None else {part.strip().casefold() for part in given.text.split(",")}
        if profile.protected and (profile.name == recorded or named & present):
            return profile.name
    return None


def _read() -> dict[str, str]:
    path = protected_clusters_file()
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, str])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        raise ConfigFileError(
            f"{path} cannot be read: {error}.",
            "It has the ids of protected clusters, so no change is made without it.",
            "Remove it, and run eosctl doctor once with each protected profile.",
        ) from error
