"""Each command of eosctl that reads or changes a cluster, and whether it did so completely with some of its rights."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.commands.conftest import Done, eosctl
from tests.commands.every_command import Leaf, leaves
from tests.sandbox.security.own_rights import Rule

#: What a command needs to know for a run on the cluster of `use_everything`.
ARGUMENTS: Final[dict[str, tuple[str, ...]]] = {
    "txn hanging": ("--all",),
    "txn describe": ("app",),
    "txn producers": ("--topic", "orders"),
    "txn blame": ("app",),
    "txn fence": ("app", "--yes"),
    "txn abort": ("--yes",),
    "txn complete": ("--yes",),
    "fencing explain": ("app",),
    "group describe": ("readers",),
    "txn watch": ("--count", "1", "-o", "json"),
    "top": ("--count", "1", "-o", "json"),
    "exporter": ("--once",),
}
#: Their rights follow from their arguments (`test_argument_rights`).
OF_THEIR_ARGUMENTS: Final = frozenset(
    {
        "capacity calibrate", "capacity observe", "check acl", "checklist run", "config lint", "decode segment", "mcp",
        "profile add", "runbook run", "sandbox proxy", "verify app", "verify canary", "verify dlq", "verify replay",
        "verify run",
    }
)  # fmt: skip
_GAPS: Final = re.compile(r'(?:^eosctl_evidence_gaps |"evidence_gap_count": ?)(\d+)', re.MULTILINE)


def commands() -> list[Leaf]:
    """Return the commands that connect to a cluster, but those whose rights depend on their arguments."""
    found = [leaf for leaf in leaves() if any("--bootstrap-server" in one.opts for one in leaf.parameters)]
    return [leaf for leaf in found if leaf.name not in OF_THEIR_ARGUMENTS]


def rules_of(leaf: Leaf, principal: str = "User:alice") -> list[Rule]:
    """Return the rules that `check acl` prints for a command."""
    printed = eosctl("check", "acl", "-".join(leaf.words), "--principal", principal, "-o", "json")
    rules: list[Rule] = printed.json["items"]
    return rules


def run_command(leaf: Leaf, connection: Sequence[str | Path], folder: Path, *more: str) -> Done:
    """Run a command on a cluster, so that missing evidence shows."""
    words: list[str | Path] = [*leaf.words, *ARGUMENTS.get(leaf.name, ()), *more]
    if leaf.name == "snapshot capture":
        words.append(folder / f"{len(list(folder.iterdir()))}.zip")
    if any("--require-complete" in one.opts for one in leaf.parameters):
        words.append("--require-complete")
    return eosctl(*words, *connection)


def is_complete(done: Done) -> bool:
    """Return whether a command did what it is for, and names no missing evidence."""
    gaps = sum(map(int, _GAPS.findall(done.out)))
    return done.code in (0, 3) and not gaps and "Grant " not in done.out + done.err
