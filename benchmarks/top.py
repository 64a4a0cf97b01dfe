"""`eosctl top` in a terminal, on a cluster with 10,000 open transactions: its share of a core while it only shows.

    python -m benchmarks.top [--seconds 120] [--lifetimes 600,30,1] [--against DIRECTORY] [--interval 5s]

The program runs on a pseudo-terminal, next to a synthetic cluster (`benchmarks.synthetic_server`) in a process of its
own. Lifetimes are those of the transactions, in seconds: each ends after that time, and its producer begins the next.
The share is the processor time between the first reading and the end, of the whole process. With `--against`, the
program of another directory runs in turn with this one, on the same cluster. The exit code is 1 when the target is
missed.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks import as_installed
from benchmarks.at_scale import cluster
from benchmarks.synthetic_cluster import Shape

OPEN: Final = 10_000
#: Prime, so that each partition has a producer of its own.
IDS: Final = 10_037
ROWS, COLUMNS = 40, 160
TARGET: Final = 0.01
START_S: Final = 60
_READ_AT: Final = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_OPEN_COUNT: Final = re.compile(rb"([\d,]+) open transactions?, (\d+) hanging")


class Share(NamedTuple):
    """Processor time and readings between the first reading and the end, and what was shown last."""

    seconds: float
    cpu_s: float
    readings: int
    shown: str

    @property
    def of_core(self) -> float:
        """Return the share of one core."""
        return self.cpu_s / self.seconds


@contextmanager
def _on_terminal(words: Sequence[str], home: Path) -> Iterator[tuple[int, int]]:
    """Run a program on a pseudo-terminal; yield its process id and the terminal."""
    environment = {**as_installed(), "PYTHONPATH": str(home), "TERM": "xterm-256color"}
    process_id, terminal = pty.fork()
    if process_id == 0:
        os.chdir(home)
        os.execve(sys.executable, [sys.executable, "-m", "eosctl", *words], environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    try:
        yield process_id, terminal
    finally:
        os.kill(process_id, signal.SIGKILL)
        os.waitpid(process_id, 0)
        os.close(terminal)


def _cpu_s(process_id: int) -> float:
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _output(terminal: int, until: float) -> bytes:
    """Return what the program prints until a time of the monotonic clock, or in one second."""
    ready, _, _ = select.select([terminal], [], [], min(1.0, max(0.0, until - time.monotonic())))
    return os.read(terminal, 1 << 16) if ready else b""


def measure(words: Sequence[str], home: Path, seconds: float) -> Share:
    """Run `eosctl top` and measure its process once the first reading is shown.

    Raises:
        TimeoutError: No reading was shown in a minute.
    """
    with _on_terminal(words, home) as (process_id, terminal):
        begun, printed = time.monotonic(), b""
        while not _OPEN_COUNT.search(printed):
            printed += _output(terminal, begun + START_S)
            if time.monotonic() > begun + START_S:
                raise TimeoutError(printed.decode(errors="replace"))
        first, cpu_s = time.monotonic(), _cpu_s(process_id)
        while time.monotonic() < first + seconds:
            printed += _output(terminal, first + seconds)
        lasted = time.monotonic() - first
        used = _cpu_s(process_id) - cpu_s
    counts = _OPEN_COUNT.findall(printed)[-1]
    readings = len(dict.fromkeys(_READ_AT.findall(printed))) - 1
    return Share(lasted, used, readings, f"{counts[0].decode()} open, {counts[1].decode()} hanging")


def main() -> int:
    """Measure each lifetime, each program in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120, help="Duration of each run.")
    parser.add_argument("--lifetimes", default="600,30,1", help="Lifetimes of transactions, in seconds.")
    parser.add_argument("--hanging", default="0,10", help="Numbers of hanging transactions.")
    parser.add_argument("--brokers", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--interval", default="", help="The interval for all runs; the default of each if empty.")
    parser.add_argument("--against", type=Path, help="The directory of another state of the program.")
    given = parser.parse_args()
    here = Path(__file__).parents[1]
    programs = {"now": here} if given.against is None else {"before": given.against, "now": here}
    print("| Lifetime, s | Hanging | Program | Readings | Processor time of one, s | Share of a core | Shown |")
    print("|---:|---:|---|---:|---:|---:|---|", flush=True)
    missed = False
    for lifetime in map(int, given.lifetimes.split(",")):
        for hanging in map(int, given.hanging.split(",")):
            size = OPEN + hanging
            shape = Shape(given.brokers, size, IDS, 100, hanging, size, lifetime * 1_000)
            with cluster(shape) as bootstrap:
                words = ["top", "-b", bootstrap]
                words += ["--interval", given.interval] if given.interval else []
                for _ in range(given.rounds):
                    for name, home in programs.items():
                        share = measure(words, home, given.seconds)
                        missed |= name == "now" and share.of_core > TARGET
                        print(_row(lifetime, hanging, name, share), flush=True)
    return int(missed)


def _row(lifetime: int, hanging: int, name: str, share: Share) -> str:
    each = f"{share.cpu_s / share.readings:.3f}" if share.readings else "-"
    return (
        f"| {lifetime} | {hanging} | {name} | {share.readings} | {each} | {100 * share.of_core:.2f} % | {share.shown} |"
    )


if __name__ == "__main__":
    sys.exit(main())
