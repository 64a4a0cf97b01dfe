"""Saved runs: record and history, for later checks and replays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from eosctl.errors import ConfigFileError, EosctlError, UsageError
from eosctl.lab.faults import current_kind
from eosctl.lab.history.encoding import decode_events, encode_event
from eosctl.lab.history.events import History
from eosctl.lab.history.packed import PackedHistory
from eosctl.lab.verify.plan import PlannedFault, VerifyPlan
from eosctl.user_folders import state_home
from eosctl.whole_file import whole_file

_RECORD = "run.json"
_HISTORY = "history.jsonl"


class RunRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The record of a run.

    Attributes:
        run_id: Its id.
        plan: Its plan.
        where: The cluster, as the user named it: a bootstrap address, or an engine with its options.
        cluster_id: The cluster's id.
        cluster: A description of the cluster.
        faults: The faults in order.
        fault_kinds: The kinds that they were drawn from.
        speaks_end_txn_5: Whether the epoch was bumped with every transaction.
        unsettled: Activities that had not ended in time.
        refused_faults: Faults that could not be made.
        left_topics: Topics that could not be deleted.
        began_at_ms: Its start, milliseconds since the epoch.
        eosctl_version: The version of eosctl.
        arguments: The command line, without the program's name.
    """

    run_id: str
    plan: VerifyPlan
    where: dict[str, Any]
    cluster_id: str
    cluster: str
    faults: tuple[PlannedFault, ...]
    fault_kinds: tuple[str, ...]
    speaks_end_txn_5: bool
    unsettled: tuple[str, ...]
    refused_faults: tuple[str, ...]
    left_topics: tuple[str, ...]
    began_at_ms: int
    eosctl_version: str
    arguments: tuple[str, ...] = ()


def runs_folder() -> Path:
    """Return the folder of runs: `$XDG_STATE_HOME/eosctl/verify`."""
    return state_home() / "eosctl" / "verify"


def save_run(record: RunRecord, history: History) -> Path:
    """Write a run and return its folder.

    Raises:
        EosctlError: It cannot be written.
    """
    folder = runs_folder() / record.run_id
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with whole_file(folder / _HISTORY) as file:
            file.writelines(f"{encode_event(event)}\n".encode() for event in history)
        with whole_file(folder / _RECORD) as file:
            file.write(msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
    except OSError as error:
        raise EosctlError(
            f"Cannot write the run to {folder}.",
            error.strerror or str(error),
            "Make the folder writable, or set XDG_STATE_HOME to one that is.",
        ) from error
    return folder


def load_run(name: str) -> tuple[RunRecord, History]:
    """Load a run by its id or the path of its folder.

    Raises:
        UsageError: The run does not exist.
        ConfigFileError: Its record is damaged.
        DecodeError: Its history is damaged.
    """
    folder = Path(name) if Path(name).is_dir() else runs_folder() / name
    try:
        record = msgspec.json.decode((folder / _RECORD).read_bytes(), type=RunRecord)
        with (folder / _HISTORY).open(encoding="utf-8") as lines:
            return _with_current_names(record), PackedHistory(decode_events(lines))
    except (FileNotFoundError, NotADirectoryError) as error:
        there = sorted(path.name for path in runs_folder().glob("*") if (path / _RECORD).is_file())
        known = f"There are: {', '.join(there[-5:])}." if there else f"{runs_folder()} holds none."
        raise UsageError(f"There is no run {name!r}.", known, "Name one of them, or its folder.") from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigFileError(
            f"The run {folder} cannot be read: {error}.", "Its files are not as eosctl wrote them.", "Play it again."
        ) from error
    except OSError as error:
        raise ConfigFileError(
            f"Cannot read {folder}.", error.strerror or str(error), "Check its permissions."
        ) from error


def _with_current_names(record: RunRecord) -> RunRecord:
    faults = tuple(fault._replace(kind=current_kind(fault.kind)) for fault in record.faults)
    kinds = tuple(dict.fromkeys(map(current_kind, record.fault_kinds)))
    return msgspec.structs.replace(record, faults=faults, fault_kinds=kinds)
