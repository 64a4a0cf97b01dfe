"""Runs a proof as one command, and writes its record."""

from __future__ import annotations

import json
import os
import platform
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from scripts.prove.catalog import Proof

RECORDS: Final = "docs/proofs"
LAST_LINES: Final = 15
#: The file to which a command may write details of its result, as JSON.
DETAILS: Final = "EOSCTL_PROOF_DETAILS"


class Ended(NamedTuple):
    """The end of a command."""

    code: int
    began_at: datetime
    duration_ms: int
    last_lines: tuple[str, ...]


def run_whole(root: Path, name: str, proof: Proof) -> bool:
    """Run a proof, show its output, and write its record; return whether it succeeded."""
    print(f"{name}: {proof.claim}\n$ {shown(proof)}", flush=True)
    commit = git(root, "rev-parse", "HEAD")  # a commit made meanwhile is not the running code
    with tempfile.TemporaryDirectory(prefix="proof-") as folder:
        details = Path(folder) / "details.json"
        ended = run_command(root, proof.command, (*proof.environment, (DETAILS, str(details))))
        found = json.loads(details.read_text("utf-8")) if details.exists() else None
    record = {
        "claim": proof.claim,
        "command": shown(proof),
        "commit": commit,
        "began_at": ended.began_at.isoformat(timespec="seconds"),
        "duration_ms": ended.duration_ms,
        "machine": machine(),
        "succeeded": ended.code == 0,
        "exit_code": ended.code,
        "last_lines": ended.last_lines,
    } | ({} if found is None else {"details": found})
    write_record(root, name, record)
    return ended.code == 0


def run_command(root: Path, command: Sequence[str], environment: Sequence[tuple[str, str]]) -> Ended:
    """Run a command in the root of the project, and show its output; an interrupt ends it too."""
    began_at, began = datetime.now(UTC), time.monotonic()
    lines: list[str] = []
    with subprocess.Popen(
        command,
        cwd=root,
        env=own_environment(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,  # Ctrl-C reaches it once, from here, so that it can end its brokers
    ) as process:
        try:
            for line in process.stdout or ():
                print(line, end="", flush=True)
                lines = [*lines[1 - LAST_LINES :], line.rstrip()]
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            process.wait()
            raise
    return Ended(process.returncode, began_at, round((time.monotonic() - began) * 1000), tuple(lines))


def own_environment(added: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return the environment of a proof, without options of a run of tests around it, such as a second try."""
    return {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"} | dict(added)


def write_record(root: Path, name: str, record: Mapping[str, object]) -> None:
    """Write the record of a proof; a process that ends meanwhile leaves the former one."""
    path = root / RECORDS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(record, indent=2) + "\n", "utf-8")
    part.replace(path)


def shown(proof: Proof) -> str:
    """Return the command as typed in the project."""
    words = ["python" if word == sys.executable else word for word in proof.command]
    return " ".join([f"{key}={value}" for key, value in proof.environment] + [shlex.join(words)])


def machine() -> str:
    """Return what the proof runs on."""
    return f"{os.cpu_count()} CPUs, {platform.platform()}, Python {platform.python_version()}"


def changed_files(root: Path) -> str:
    """Return what git reports as changed, without the records of proofs."""
    return git(root, "status", "--porcelain", "--", ".", f":(exclude){RECORDS}")


def git(root: Path, *args: str) -> str:
    """Return the output of a git command, without the last line end."""
    return subprocess.run(["git", *args], cwd=root, capture_output=True, text=True, check=True).stdout.rstrip()
