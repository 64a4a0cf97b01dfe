"""Checklists that are shipped (``knowledge/checklists``) or kept by a team, and records of runs."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
import yaml

from eosctl.errors import ConfigFileError, unknown_name
from eosctl.input_file import read_input
from eosctl.knowledge.small_files import load_yaml
from eosctl.model.checklist import Checklist, ChecklistItem, ChecklistRecord, ItemKind

RECORD_SCHEMA = "eosctl.checklist-record"


def shipped_checklists() -> tuple[Checklist, ...]:
    """Return the checklists that come with eosctl, by id."""
    folder = resources.files("eosctl.knowledge") / "checklists"
    found = (
        parse_checklist(one.read_text(encoding="utf-8"), one.name)
        for one in folder.iterdir()
        if one.name.endswith(".yaml")
    )
    return tuple(sorted(found, key=lambda checklist: checklist.id))


def find_checklist(name: str) -> Checklist:
    """Return the shipped checklist of this id, or the one in this file.

    Raises:
        UsageError: Neither a checklist nor a file has this name.
        ConfigFileError: The file is not a checklist.
    """
    if name.endswith((".yaml", ".yml")) or "/" in name:
        try:
            return parse_checklist(read_input(name).decode("utf-8"), name)
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigFileError(f"{name} cannot be read: {error}.", "", "Name a checklist's file.") from error
    known = shipped_checklists()
    found = next((one for one in known if one.id == name), None)
    if found is None:
        listing = "List them: eosctl checklist list; or name a file: ./own.yaml"
        raise unknown_name("checklist", name, (one.id for one in known), listing)
    return found


def parse_checklist(text: str, source: str) -> Checklist:
    """Parse a checklist.

    Raises:
        ConfigFileError: Something in it is not as documented; the message says which item.
    """
    try:
        body: Any = load_yaml(text)
        checklist = msgspec.convert(body, Checklist)
    except (yaml.YAMLError, msgspec.ValidationError, RecursionError) as error:
        raise _wrong(source, " ".join(str(error).split())) from error
    ids = [item.id for item in checklist.items]
    if len(set(ids)) != len(ids) or not ids:
        raise _wrong(source, "an item's id is there twice" if ids else "it has no items")
    for item in checklist.items:
        if reason := _reason(item):
            raise _wrong(source, f"item {item.id}: {reason}")
    return checklist


def _reason(item: ChecklistItem) -> str:
    """Say what is wrong with an item; empty when nothing is."""
    if not all(text.strip() for text in (item.id, item.title, item.why, item.fix)):
        return "title, why and fix are needed"
    if bool(item.checks) != (item.kind is ItemKind.AUTOMATIC):
        return "checks belong to automatic items, and these need them"
    if (item.also or item.sees or item.lacks) and not item.checks:
        return "also, sees, and lacks belong to automatic items"
    if (item.limit is not None) != (item.kind is ItemKind.MEASURED):
        return "a limit belongs to measured items, and these need one"
    if item.limit is not None and item.limit.at_least is None and item.limit.at_most is None:
        return "the limit has no bound"
    if item.probe and item.kind is not ItemKind.MEASURED:
        return "a probe belongs to measured items"
    return ""


def read_record(path: Path) -> ChecklistRecord:
    """Read the record of a run.

    Raises:
        ConfigFileError: The file is none.
    """
    try:
        record = msgspec.json.decode(read_input(path), type=ChecklistRecord)
    except (OSError, msgspec.MsgspecError, RecursionError) as error:
        raise ConfigFileError(f"{path} is not a checklist record: {error}.", "", "Name another file.") from error
    if (record.schema, record.schema_version) != (RECORD_SCHEMA, 1):
        raise ConfigFileError(
            f"{path} is a {record.schema} {record.schema_version}.", "", f"Wanted: {RECORD_SCHEMA} 1."
        )
    return record


def _wrong(source: str, reason: str) -> ConfigFileError:
    return ConfigFileError(
        f"{source} is not a checklist: {reason}.",
        "It has id, title, purpose, version and items.",
        "See eosctl schema checklist",
    )
