"""The README's story from end to end: a cluster, a workload, two faults, the diagnosis, the repair.

Every step prints the command that a user would type and then runs it. Whatever happens, the sandbox that this program
started is stopped at the end, also after Ctrl-C.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
OUTPUT = ROOT / "demo-output"
SANDBOX = f"demo-{os.getpid()}"


class StepFailedError(Exception):
    """A command ended with another exit code than the story expects."""


def say(text: str) -> None:
    """Print a line of the story."""
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n== {text}", flush=True)


def command_line(words: list[str]) -> list[str]:
    """Return the words with the program found beside this interpreter."""
    program = BIN / words[0]
    return [str(program) if program.exists() else words[0], *words[1:]]


def run(line: str, *, expect: int = 0, show: bool = True) -> str:
    """Show the command as typed, run it, return its standard output."""
    print(f"$ {line}", flush=True)
    words = command_line(shlex.split(line))
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if show:
        print(done.stdout, end="", flush=True)
    if done.returncode != expect:
        raise StepFailedError(f"{line!r} ended with exit code {done.returncode}, expected {expect}")
    return done.stdout


def run_json(line: str, *, expect: int = 0) -> Any:
    """Run a command quietly and parse its JSON."""
    words = command_line(shlex.split(line))
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != expect:
        raise StepFailedError(f"{line!r} ended with exit code {done.returncode}, expected {expect}\n{done.stdout}")
    return json.loads(done.stdout)


def story() -> None:
    """Tell the story."""
    OUTPUT.mkdir(exist_ok=True)
    say("1. A three-broker cluster on loopback; partition verification off, so that a transaction can hang")
    run(
        f"eosctl sandbox up --name {SANDBOX} --brokers 3 --ephemeral "
        "--config transaction.partition.verification.enable=false"
    )
    bootstrap = run_json(f"eosctl sandbox status --name {SANDBOX} -o json")["items"][0]["bootstrap"]

    say("2. A consume-transform-produce application with confluent-kafka")
    run(f"python docs/examples/consume_transform_produce.py --bootstrap {bootstrap} --seconds 3")

    say("3. Two faults: a zombie, and a transaction that no coordinator will ever end")
    run(f"eosctl sandbox scenario zombie --name {SANDBOX}")
    run(f"eosctl sandbox scenario hanging --name {SANDBOX}")

    say("4. What is wrong?")
    report = OUTPUT / "doctor.html"
    run(f"eosctl doctor -b {bootstrap} --report {report.relative_to(ROOT)}", expect=3)

    say("5. Look closer, plan, act, verify")
    run(f"eosctl txn hanging -b {bootstrap}", expect=3)
    hanging = next(
        item
        for item in run_json(f"eosctl txn hanging -b {bootstrap} -o json", expect=3)["items"]
        if item["status"] == "hanging"
    )
    topic, partition = hanging["topic"], hanging["partition"]
    run(f"python docs/examples/read_committed.py --bootstrap {bootstrap} --topic {topic}")
    abort = f"eosctl txn abort -b {bootstrap} --topic {topic} --partition {partition}"
    abort += f" --producer-id {hanging['producer_id']}"
    run(abort)
    run(abort + " --yes")
    run(f"eosctl txn hanging -b {bootstrap}")
    run(f"eosctl doctor -b {bootstrap} --fail-on critical")
    run(f"python docs/examples/read_committed.py --bootstrap {bootstrap} --topic {topic}")
    print(f"\nThe report of the first diagnosis: {report.relative_to(ROOT)}")


def stop_sandbox() -> None:
    """Stop the sandbox if it runs; an interrupted start may have left none."""
    line = f"eosctl sandbox down --name {SANDBOX}"
    print(f"$ {line}", flush=True)
    subprocess.run(command_line(shlex.split(line)), cwd=ROOT, check=False)


def interrupt(*_: object) -> None:
    """Treat SIGTERM as Ctrl-C."""
    raise KeyboardInterrupt


def main() -> int:
    """Run the story and clean up."""
    signal.signal(signal.SIGTERM, interrupt)
    begun = time.monotonic()
    status = 0
    try:
        story()
    except StepFailedError as failure:
        print(f"\nThe demo stopped: {failure}", file=sys.stderr)
        status = 1
    except KeyboardInterrupt:
        print("\nInterrupted; stopping the sandbox.", file=sys.stderr)
        status = 130
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        say("Last: stop the cluster; no process or port is left")
        stop_sandbox()
    if status:
        return status
    print(f"\nDone in {time.monotonic() - begun:.0f} s.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
