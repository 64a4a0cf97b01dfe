"""``.eosctl.yaml``: which findings a project lives with, and when a run fails.

fail_on: error
min_score: 80
suppressions:
  - id: EOS-BRK-002
    scope: cluster *
    reason: Brokers are upgraded in August, see CHANGE-4711.
    expires: 2026-08-31
"""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import Any, Final

from eosctl.errors import ConfigFileError
from eosctl.findings.gate_rules import GateRules, Suppression
from eosctl.input_file import read_input
from eosctl.model.severity import Severity

GATE_FILE: Final = ".eosctl.yaml"
_KEYS: Final = frozenset({"suppressions", "fail_on", "min_score"})
_ID: Final = re.compile(r"EOS-[A-Z]{3}-\d{3}", re.IGNORECASE)
_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.IGNORECASE)
_OTHER_ID: Final = re.compile(r"(fsck|runbook|verify)/[a-z-]+|logs/\w+|checklist/[^/\s]+/\S+")
"""Ids of findings in data directories, runbooks, verifications, and logs, and of items of checklists."""
_EXAMPLES: Final = "EOS-TXN-001, hanging-transaction, fsck/crc-mismatch, logs/producer_fenced"


def read_gate_rules(path: Path) -> GateRules:
    """Read a project's rules; a suppression keeps the id or name of its check as it is written.

    Raises:
        ConfigFileError: The file cannot be read, or something in it is not as documented.
    """
    import yaml  # loaded late: most runs have no such file

    from eosctl.knowledge.small_files import load_yaml

    try:
        document = load_yaml(read_input(path).decode("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = str(error).replace("\n", " ")
        raise ConfigFileError(f"{path} cannot be read: {reason}.", "", "Correct or remove the file.") from error
    if document is None:
        return GateRules()
    if not isinstance(document, dict):
        raise _wrong(path, "it is not a mapping")
    if unknown := sorted(str(key) for key in document.keys() - _KEYS):
        raise _wrong(path, f"unknown key {unknown[0]}")
    entries = document.get("suppressions") or []
    if not isinstance(entries, list):
        raise _wrong(path, "suppressions is not a list")
    return GateRules(
        tuple(_suppression(path, number, entry) for number, entry in enumerate(entries, 1)),
        _severity(path, document.get("fail_on")),
        _score(path, document.get("min_score")),
    )


def _suppression(path: Path, number: int, entry: Any) -> Suppression:
    where = f"suppression {number}"
    if not isinstance(entry, dict):
        raise _wrong(path, f"{where} is not a mapping")
    if unknown := sorted(str(key) for key in entry.keys() - {"id", "scope", "reason", "expires"}):
        raise _wrong(path, f"{where} has the unknown key {unknown[0]}")
    check_id, reason = str(entry.get("id", "")), str(entry.get("reason") or "").strip()
    if _ID.fullmatch(check_id):
        check_id = check_id.upper()
    elif not _OTHER_ID.fullmatch(check_id) and (check_id.upper().startswith("EOS-") or not _NAME.fullmatch(check_id)):
        raise _wrong(path, f"{where} has no id or name of a check ({_EXAMPLES})")
    if not reason:
        raise _wrong(path, f"{where} ({check_id}) has no reason")
    return Suppression(check_id, str(entry.get("scope") or "*"), reason, _day(path, where, entry.get("expires")))


def _day(path: Path, where: str, value: Any) -> str:
    if value is None:
        return ""
    try:
        return date.fromisoformat(str(value)).isoformat()
    except ValueError as error:
        raise _wrong(path, f"{where} expires on {value}, which is not a date (YYYY-MM-DD)") from error


def _severity(path: Path, value: Any) -> Severity | None:
    if value is None or value in set(Severity):
        return None if value is None else Severity(value)
    raise _wrong(path, f"fail_on {value} is not one of {', '.join(Severity)}")


def _score(path: Path, value: Any) -> int | None:
    if value is None or (type(value) is int and 0 <= value <= 100):
        return value
    raise _wrong(path, f"min_score {value} is not a number from 0 to 100")


def _wrong(path: Path, reason: str) -> ConfigFileError:
    return ConfigFileError(
        f"{path} does not say which findings to live with: {reason}.",
        "It may hold suppressions (each with id, scope, reason, expires), fail_on and min_score.",
        "Correct it; a run with rules that are not understood would hide too much or too little.",
    )
