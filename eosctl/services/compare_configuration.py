"""Read two configuration files to compare them, and find vetted configurations."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from eosctl.analysis.setting_differences import differences
from eosctl.errors import unknown_name
from eosctl.model.deployment import Deployment, Difference
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.releases import release_if_named
from eosctl.settings.clusters.profile_security import Security, secured
from eosctl.settings.clusters.vetted_profiles import VettedProfile, load_vetted_profiles
from eosctl.settings.deployment.deployment_files import read_deployment
from eosctl.settings.values.sources import Releases


class Side(NamedTuple):
    """A file, and the release of Kafka or librdkafka that it configures; None for the newest."""

    path: Path
    version: str | None = None


def compare_files(left: Side, right: Side, callbacks: Callbacks = SILENT) -> tuple[Difference, ...]:
    """Return the settings with different effective values in the two files, with defaults resolved.

    Args:
        left: One file.
        right: The other one.
        callbacks: Called when no table reaches a release.

    Raises:
        UsageError: A release is invalid.
        ConfigFileError: A file cannot be read, or has no settings of Kafka.
    """
    return differences(_read(*left, callbacks), _read(*right, callbacks))


def _read(path: Path, version: str | None, callbacks: Callbacks) -> Deployment:
    release = release_if_named(version, callbacks.remark, "Kafka", "librdkafka")
    read = read_deployment([path], releases=Releases(release, release, release))
    if read.unreadable:
        raise read.unreadable[0].error
    read.require_settings()
    return read.deployment


def find_vetted(name: str) -> VettedProfile:
    """Return the vetted configuration with this name.

    Raises:
        UsageError: No configuration has this name.
    """
    profiles = load_vetted_profiles()
    chosen = next((one for one in profiles if one.name == name), None)
    if chosen is None:
        raise unknown_name("profile", name, (one.name for one in profiles), "List them: eosctl config render")
    return chosen


def render_vetted(name: str, security: str | None = None) -> str:
    """Return the text of a vetted configuration, with the settings of a kind of security where one is named.

    Raises:
        UsageError: No profile, or no kind of security, has this name.
    """
    profile = find_vetted(name)
    if security is None:
        return profile.text
    if security not in list(Security):
        raise unknown_name("kind of security", security, tuple(Security), "Choose one of them.")
    return secured(profile, Security(security))


def list_vetted() -> tuple[VettedProfile, ...]:
    """Return all vetted configurations, by name."""
    return load_vetted_profiles()
