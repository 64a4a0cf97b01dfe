"""The commands of Docker Compose that sarama's tests call, for brokers of a cluster of eosctl.

`compose logs --since TIME SERVICE` prints a broker's log, and `exec -T SERVICE SCRIPT` runs a script of Kafka.
Everything else fails: where a broker stops, the tests expect a proxy that still accepts connections.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

CLUSTER: Final = "EOSCTL_CLUSTER"
BOOTSTRAP: Final = "EOSCTL_BOOTSTRAP"
SCRIPTS: Final = "EOSCTL_KAFKA"
_ADDRESS: Final = re.compile(r"kafka-\d+:\d+")
_STAMP: Final = "%Y-%m-%d %H:%M:%S"
_LINES: Final = "100000"


def main(arguments: Sequence[str]) -> int:
    """Run a command; return its exit status."""
    match arguments:
        case ["compose", "logs", "--since", since, service]:
            return _print_log(since, _node(service))
        case ["compose", "exec", "-T", _, script, *rest]:
            program = Path(os.environ[SCRIPTS]) / "bin" / Path(script).name
            words = [_ADDRESS.sub(os.environ[BOOTSTRAP], word) for word in rest]
            return subprocess.run([program, *words]).returncode
        case _:
            print(f"{' '.join(arguments)} is not available", file=sys.stderr)
            return 1


def _print_log(since: str, node: str) -> int:
    command = _sandbox("logs", "--broker", node, "--lines", _LINES)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    first = f"[{datetime.fromisoformat(since).astimezone(UTC).strftime(_STAMP)}"
    lines = done.stdout.splitlines()
    begin = next((at for at, line in enumerate(lines) if line.startswith("[") and line >= first), len(lines))
    print("\n".join(lines[begin:]))
    return done.returncode


def _sandbox(command: str, *rest: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "eosctl", "sandbox", command, "--name", os.environ[CLUSTER], *rest)


def _node(service: str) -> str:
    return service.rpartition("-")[2]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
