"""What differs between two releases, for people: settings, error codes, features, levels, and requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scripts.absorb.release import Absorbed, Api, Setting
from scripts.parameter_tables.history import Declared


def render_difference(old: Absorbed, new: Absorbed) -> str:
    """Render the difference as Markdown."""
    sections = {
        "Settings": list(_settings(old, new)),
        "Error codes": [f"{e.code} {e.name} ({e.exception})" for e in new.errors if e not in old.errors],
        "Features": list(_features(old, new)),
        "Levels of metadata.version": [
            f"{version.level} {version.name}: {', '.join(version.begins) or 'no question of Kafka begins with it'}"
            for version in new.metadata_versions
            if _stable(old) < version.level <= _stable(new)
        ],
        "Requests": list(_apis(old.apis, new.apis)),
        "Messages": list(_messages(old.messages, new.messages)),
    }
    lines = [f"# Kafka {new.release} after {old.release}"]
    for title, found in sections.items():
        lines += ["", f"## {title}", "", *(f"- {line}" for line in found or ["no difference"])]
    return "\n".join(lines) + "\n"


def changed_settings(old: Absorbed, new: Absorbed) -> Iterator[tuple[Setting, Setting]]:
    """Yield the settings of both releases that are declared in another way; old first."""
    before = _by_name(old)
    for key, setting in _by_name(new).items():
        if key in before and _comparable(before[key].declared) != _comparable(setting.declared):
            yield before[key], setting


def new_settings(old: Absorbed, new: Absorbed) -> Iterator[Setting]:
    """Yield the settings that only the new release has."""
    before = _by_name(old)
    yield from (setting for key, setting in _by_name(new).items() if key not in before)


def _settings(old: Absorbed, new: Absorbed) -> Iterator[str]:
    for setting in new_settings(old, new):
        yield f"new in {setting.component}: {_text(setting)}"
    missing = {setting.component for setting in old.settings} - {setting.component for setting in new.settings}
    for key, setting in _by_name(old).items():
        if key not in _by_name(new) and setting.component not in missing:
            yield f"removed from {setting.component}: {setting.declared.name}"
    for component in sorted(missing):
        yield f"not read: {component}, which the jars do not have"
    for before, after in changed_settings(old, new):
        yield f"changed in {after.component}: {_text(before)} → {_values(after)}"


def _text(setting: Setting) -> str:
    hidden = ", internal" if setting.is_internal else ""
    return f"{setting.declared.name} ({_values(setting)}{hidden})"


def _values(setting: Setting) -> str:
    one = setting.declared
    default = "required" if one.required else f"default {one.default!r}"
    return ", ".join(filter(None, (one.type, default, one.bounds, one.importance)))


def _comparable(one: Declared) -> Declared:
    return one._replace(importance="")


def _by_name(release: Absorbed) -> dict[tuple[str, str], Setting]:
    return {(setting.component, setting.declared.name): setting for setting in release.settings}


def _stable(release: Absorbed) -> int:
    return release.features["metadata.version"].highest if release.features else 0


def _features(old: Absorbed, new: Absorbed) -> Iterator[str]:
    for name, levels in new.features.items():
        before = old.features.get(name)
        if before != levels:
            was = f"{before.lowest} to {before.highest}" if before else "absent"
            yield f"{name}: {was} → {levels.lowest} to {levels.highest}, new clusters {levels.default}"


def _apis(old: Mapping[str, Api], new: Mapping[str, Api]) -> Iterator[str]:
    for name, api in new.items():
        before = old.get(name)
        if before is None:
            yield f"new: {name} ({api.key}), versions {api.versions}, listeners {', '.join(api.listeners)}"
        elif before.versions != api.versions:
            yield f"{name} ({api.key}): versions {before.versions} → {api.versions}"
    yield from (f"removed: {name}" for name in old if name not in new)


def _messages(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for name, schema in sorted(new.items()):
        if name not in old:
            yield f"new: {name}"
            continue
        before, after = dict(field_paths(old[name])), dict(field_paths(schema))
        for path, shape in after.items():
            if path not in before:
                yield f"{name}: new field {path} ({shape})"
            elif before[path] != shape:
                yield f"{name}: {path} ({before[path]} → {shape})"
        yield from (f"{name}: field {path} is gone" for path in before if path not in after)


def field_paths(schema: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield path and shape (type, versions, tag, null) of each field of a message."""
    for field in schema.get("fields", ()):
        path = f"{prefix}{field['name']}"
        parts = [field["type"], field.get("versions", "")]
        parts += [f"{key} {field[key]}" for key in ("nullableVersions", "tag", "default") if key in field]
        yield path, ", ".join(map(str, parts))
        yield from field_paths(field, f"{path}.")
