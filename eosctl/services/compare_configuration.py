"""Read two configuration files to compare them, explain settings, and find vetted configurations."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from eosctl.analysis.setting_differences import differences
from eosctl.checks.registry import checks_reading
from eosctl.errors import UsageError, unknown_name
from eosctl.knowledge.parameter_tables import SPRING_PREFIX, java_names, load_tables
from eosctl.knowledge.reference.index import explained_elsewhere
from eosctl.knowledge.setting_effects import load_setting_effects
from eosctl.knowledge.update_modes import explain_update
from eosctl.model.deployment import Deployment, Difference
from eosctl.model.explained_setting import ExplainedSetting, SettingItem, SpanItem
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.releases import release_if_named
from eosctl.settings.deployment_files import read_deployment
from eosctl.settings.profile_security import Security, secured
from eosctl.settings.sources import Releases
from eosctl.settings.vetted_profiles import VettedProfile, load_vetted_profiles
from eosctl.text import release_text


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


def explain_setting(name: str) -> ExplainedSetting:
    """Return where a setting exists, its defaults, its effect, and the rules that read it.

    Raises:
        UsageError: No component has it.
    """
    rules = tuple(f"{rule.id} {rule.title}" for rule in checks_reading(name))
    items: list[SettingItem] = []
    for component, table in load_tables().items():
        is_springs = component == "spring" and name.lower().startswith(SPRING_PREFIX)
        own = name.lower().removeprefix(SPRING_PREFIX)
        parameter = table.declared(own) if is_springs else table.parameters.get(name)
        if parameter is None:
            continue
        spans = tuple(
            SpanItem(release_text(span.since), span.default, span.bounds) for span in parameter.spans if not span.absent
        )
        removed = "" if parameter.removed is None else release_text(parameter.removed)
        effect = load_setting_effects().get(parameter.name, "")
        update = explain_update(component, name)
        alias = parameter.alias
        items.append(
            SettingItem(
                component=component,
                software=table.software,
                name=parameter.name,
                type=parameter.type,
                spans=spans,
                removed=removed,
                alias=alias,
                update=update,
                effect=effect,
                rules=rules,
            )
        )
    if not items:
        raise _unknown_setting(name)
    oldest = {component: release_text(table.first) for component, table in load_tables().items()}
    return ExplainedSetting(tuple(items), oldest)


def _unknown_setting(name: str) -> UsageError:
    """Return the error for a setting that no component has, with those whose names are close."""
    near = ", ".join(get_close_matches(name, sorted(java_names()), 3))
    return UsageError(
        f"No component of Kafka has the setting {name!r}.",
        f"Close to it: {near}." if near else "",
        f"Write the name as it stands in configuration files{explained_elsewhere(name)}.",
    )


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
