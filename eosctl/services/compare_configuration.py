"""Read two configuration files to compare them, explain settings, and find vetted configurations."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from eosctl.errors import UsageError, unknown_name
from eosctl.knowledge.parameter_tables import java_names
from eosctl.model.deployment import Deployment
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.releases import release_if_named
from eosctl.settings.deployment_files import read_deployment
from eosctl.settings.sources import Releases
from eosctl.settings.vetted_profiles import VettedProfile, load_vetted_profiles


def read_side(path: Path, version: str | None = None, callbacks: Callbacks = SILENT) -> Deployment:
    """Return what one file configures.

    Args:
        path: The file.
        version: The release of whatever it configures: Kafka's, or librdkafka's. None for the newest.
        callbacks: Called when no table reaches the release.

    Raises:
        UsageError: The release is not one.
        ConfigFileError: The file cannot be read.
    """
    release = release_if_named(version, callbacks.remark, "Kafka", "librdkafka")
    read = read_deployment([path], releases=Releases(release, release, release))
    if read.unreadable:
        raise read.unreadable[0].error
    return read.deployment


def unknown_setting(name: str) -> UsageError:
    """Return the error for a setting that no component has, with those whose names are close."""
    near = ", ".join(get_close_matches(name, sorted(java_names()), 3))
    return UsageError(
        f"No component of Kafka has the setting {name!r}.",
        f"Close to it: {near}." if near else "",
        "Write the name as it stands in configuration files.",
    )


def find_vetted(name: str) -> VettedProfile:
    """Return the vetted configuration with this name.

    Raises:
        UsageError: There is none.
    """
    profiles = load_vetted_profiles()
    chosen = next((one for one in profiles if one.name == name), None)
    if chosen is None:
        raise unknown_name("profile", name, (one.name for one in profiles), "List them: eosctl config render")
    return chosen


def list_vetted() -> tuple[VettedProfile, ...]:
    """Return all vetted configurations, by name."""
    return load_vetted_profiles()
