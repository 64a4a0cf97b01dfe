"""Write what releases declare into the tables of the product; a release that is there already is replaced."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from scripts.absorb.release import Absorbed
from scripts.parameter_tables.history import TABLES, Declared, fold, release_numbers, unfold, write_table

ROOT: Final = Path(__file__).resolve().parents[2] / "eosctl"
PROTOCOL: Final = ROOT / "knowledge" / "protocol.json"
SANDBOX_DATA: Final = ROOT / "sandbox" / "data"
COMPONENTS: Final = (
    *("broker", "topic", "group", "producer", "consumer", "admin", "streams"),
    *("connect-worker", "source-connector", "sink-connector", "mirror-maker"),
)
READ_ONLY: Final = "read-only"
_HEADER: Final = "scope\tname\ttype\tdefault\tdetail\tinternal\tvalid"


def write_settings(found: Absorbed) -> None:
    """Write the tables of settings; a component that is missing in the jars keeps its table."""
    for component in COMPONENTS:
        declared = {
            setting.declared.name: setting.declared
            for setting in found.settings
            if setting.component == component and not setting.is_internal
        }
        if declared:
            write_table(component, _with_release(_load(TABLES / f"{component}.json"), found, declared))


def write_update_modes(found: Absorbed) -> None:
    """Write which broker settings the release changes without a restart; call it after `write_settings`."""
    path = TABLES / "update_modes.json"
    table = _load(path)
    releases: list[str] = table.get("releases", [])
    by_release = {label: _modes_at(table["settings"], label) for label in releases}
    by_release[found.label] = {
        setting.declared.name: setting.detail
        for setting in found.settings
        if setting.component in ("broker", "dynamic-broker") and setting.detail != READ_ONLY and not setting.is_internal
    }
    labels = sorted(by_release, key=release_numbers)
    settings: dict[str, dict[str, str]] = {}
    declared = _load(TABLES / "broker.json").get("settings", {})
    for name in sorted({name for modes in by_release.values() for name in modes}):
        spans = settings[name] = {}
        since = declared[name]["spans"][0]["since"] if name in declared else labels[0]
        for label in labels[labels.index(since) if since in labels else 0 :]:
            mode = by_release[label].get(name, READ_ONLY)
            if mode != next(reversed(spans.values()), None):
                spans[label] = mode
    _write(path, {"releases": labels, "settings": settings})


def write_protocol(found: Absorbed) -> None:
    """Write error codes, features, levels of metadata.version, and versions of requests."""
    known = _load(PROTOCOL)
    releases = sorted({*known.get("releases", []), found.label}, key=release_numbers)
    errors = known.get("errors", {})
    for error in found.errors:
        row = errors.get(str(error.code), {})
        since = min(row.get("since", found.label), found.label, key=release_numbers)
        errors[str(error.code)] = {
            "name": error.name,
            "exception": error.exception,
            "retriable": error.retriable,
            "since": since,
        }
    features = known.get("features", {})
    for name, levels in found.features.items():
        features.setdefault(name, {})[found.label] = list(levels)
    apis = known.get("apis", {})
    for name, api in found.apis.items():
        row = apis.setdefault(name, {"key": api.key, "versions": {}})
        row["versions"][found.label] = api.versions
        row["listeners"] = list(api.listeners)
    metadata_versions = known.get("metadata_versions", [])
    if found.label == releases[-1] and found.metadata_versions:
        stable = found.features["metadata.version"].highest
        metadata_versions = [
            {
                "level": version.level,
                "name": version.name,
                "begins": list(version.begins),
                "changes_metadata": version.changes_metadata,
            }
            for version in found.metadata_versions
            if version.level <= stable
        ]
    _write(
        PROTOCOL,
        {
            "releases": releases,
            "errors": dict(sorted(errors.items(), key=lambda item: int(item[0]))),
            "features": {name: _by_release(features[name]) for name in sorted(features)},
            "metadata_versions": metadata_versions,
            "apis": {
                name: {**apis[name], "versions": _by_release(apis[name]["versions"])}
                for name in sorted(apis, key=lambda name: int(apis[name]["key"]))
            },
        },
    )


def write_sandbox(found: Absorbed) -> None:
    """Write the broker and topic settings, internal ones too, as the sandbox reads them."""
    (SANDBOX_DATA / f"settings-{found.label}.tsv").write_text(render_sandbox(found), encoding="utf-8")


def render_sandbox(found: Absorbed) -> str:
    """Render the table of settings that a sandbox of this release has."""
    rows = sorted(
        "\t".join(
            (
                setting.component,
                setting.declared.name,
                setting.declared.type.upper(),
                _default(setting.declared),
                setting.detail,
                "true" if setting.is_internal else "false",
                setting.validator,
            )
        )
        for setting in found.settings
        if setting.component in ("broker", "topic")
    )
    return "\n".join((_HEADER, *rows)) + "\n"


def _modes_at(settings: dict[str, dict[str, str]], label: str) -> dict[str, str]:
    """Return the mode of each setting in a release; each names the release from which on it has a mode."""
    modes: dict[str, str] = {}
    for name, spans in settings.items():
        mode = [mode for since, mode in spans.items() if release_numbers(since) <= release_numbers(label)]
        if mode and mode[-1] != READ_ONLY:
            modes[name] = mode[-1]
    return modes


def _default(declared: Declared) -> str:
    if declared.required:
        return "<required>"
    return "<null>" if declared.default is None else declared.default


def _with_release(table: dict[str, Any], found: Absorbed, declared: dict[str, Declared]) -> dict[str, Any]:
    """Return a component's table with the declarations of one more release."""
    old = table.get("releases", {})
    releases = {**old, found.label: found.release}
    labels = sorted(releases, key=release_numbers)
    settings: dict[str, dict[str, Declared]] = {}
    for name, body in table.get("settings", {}).items():
        settings[name] = {
            label: one
            for label, one in unfold(name, body, sorted(old, key=release_numbers)).items()
            if label != found.label
        }
    for name, one in declared.items():
        settings.setdefault(name, {})[found.label] = one
    return {
        "first": labels[0],
        "last": labels[-1],
        "releases": {label: releases[label] for label in labels},
        "settings": {name: fold(_ordered(settings[name]), labels) for name in sorted(settings) if settings[name]},
    }


def _ordered(by_label: dict[str, Declared]) -> list[tuple[str, Declared]]:
    return sorted(by_label.items(), key=lambda item: release_numbers(item[0]))


def _by_release(rows: dict[str, Any]) -> dict[str, Any]:
    return {label: rows[label] for label in sorted(rows, key=release_numbers)}


def remove_tables(components: Iterable[str] = COMPONENTS) -> None:
    """Remove the tables, to begin again with the oldest release."""
    for name in components:
        (TABLES / f"{name}.json").unlink(missing_ok=True)
    for path in (PROTOCOL, TABLES / "update_modes.json"):
        path.unlink(missing_ok=True)


def _load(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
