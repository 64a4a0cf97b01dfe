"""The README's story from end to end: a cluster, applications, two faults, the diagnosis, the repair, the logs.

Every step prints the command that a user would type and then runs it. Whatever happens, the sandbox that this program
started is stopped at the end, also after Ctrl-C.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
OUTPUT = ROOT / "demo-output"
LOGS = OUTPUT / "logs"
SANDBOX = f"demo-{os.getpid()}"
PATIENCE_S = 60.0


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


class Background:
    """A command that runs beside the story: what it prints is kept, standard error goes to a file."""

    running: list[Background] = []  # noqa: RUF012 - one list for the whole program, so that nothing is left behind

    def __init__(self, line: str, errors: Path) -> None:
        """Show the command as typed and start it; it reads standard input until :meth:`finish`."""
        self.line = line
        self._errors = errors
        print(f"$ {line} 2> {errors.relative_to(ROOT)} &", flush=True)
        words = command_line(shlex.split(line))
        with errors.open("w") as log:
            self._process = subprocess.Popen(
                words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )
        Background.running.append(self)

    def wait_for(self, words: str) -> None:
        """Wait until the command has written these words to its log."""
        deadline = time.monotonic() + PATIENCE_S
        while words not in self._errors.read_text():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise StepFailedError(f"{self.line!r} does not say {words!r}; see {self._errors}")
            time.sleep(0.05)

    def finish(self, *, expect: int = 0) -> str:
        """Let it read on, wait for its end, return its standard output."""
        output, _ = self._process.communicate("\n")
        Background.running.remove(self)
        if self._process.returncode != expect:
            status = self._process.returncode
            raise StepFailedError(f"{self.line!r} ended with exit code {status}, expected {expect}; see {self._errors}")
        return output

    def stop(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.communicate()


def play_zombie(bootstrap: str) -> None:
    """Start a payment service twice with one transactional id; the first instance stands still meanwhile."""
    service = f"python docs/examples/payments.py --bootstrap {bootstrap}"
    first = Background(f"{service} --stand-still", LOGS / "payments-a.log")
    first.wait_for("standing still")
    second = Background(service, LOGS / "payments-b.log")
    second.finish()
    first.finish(expect=1)
    print("The first instance woke up, was refused, and ended with exit code 1.")


def choose_engine() -> str:
    """Return what reads the logs: Spark where Java and pyspark are, else eosctl itself with the same result."""
    has_java = shutil.which("java") is not None or "JAVA_HOME" in os.environ
    if has_java and importlib.util.find_spec("pyspark") is not None:
        return "spark"
    print("(Spark needs Java, which is not here: eosctl reads the logs by itself, with the same result.)")
    return "python"


def begin_mining(data_dir: Path) -> Background:
    """Put the brokers' logs beside those of the applications, as for a report of an incident, and begin to read."""
    shutil.copytree(data_dir / "logs", LOGS, dirs_exist_ok=True)
    place = LOGS.relative_to(ROOT)
    return Background(f"eosctl logs report {place} --engine {choose_engine()}", OUTPUT / "mining.log")


def show_mining(mining: Background) -> None:
    """Print the report and hold it to what was really done."""
    report = mining.finish()
    print(report, end="", flush=True)
    for fault, subject in (("producer_fenced", "payment-service"), ("hanging_transaction", "orders-")):
        if fault not in report or subject not in report:
            raise StepFailedError(f"the report from logs does not name {fault} of {subject}")


def story() -> None:
    """Tell the story."""
    OUTPUT.mkdir(exist_ok=True)
    shutil.rmtree(LOGS, ignore_errors=True)
    LOGS.mkdir()
    say("1. A three-broker cluster on loopback; partition verification off, so that a transaction can hang")
    run(
        f"eosctl sandbox up --name {SANDBOX} --brokers 3 --ephemeral "
        "--config transaction.partition.verification.enable=false"
    )
    sandbox = run_json(f"eosctl sandbox status --name {SANDBOX} -o json")["items"][0]
    bootstrap = sandbox["bootstrap"]

    say("2. A consume-transform-produce application with confluent-kafka")
    run(f"python docs/examples/consume_transform_produce.py --bootstrap {bootstrap} --seconds 3")

    say("3. Two faults: a zombie, and a transaction that no coordinator will ever end")
    play_zombie(bootstrap)
    hanging = json.loads(run(f"eosctl sandbox scenario hanging --name {SANDBOX} -o json", show=False))["items"][0]
    print("\n".join(f"  {step}" for step in hanging["steps"]))
    topic = hanging["report"]["partition"][0]
    read = f"python docs/examples/read_committed.py --bootstrap {bootstrap} --topic {topic}"
    reader = Background(f"{read} --patience-seconds 9", LOGS / "reader.log")

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
    print(reader.finish(), end="")
    mining = begin_mining(Path(sandbox["data_dir"]))
    abort = f"eosctl txn abort -b {bootstrap} --topic {topic} --partition {partition}"
    abort += f" --producer-id {hanging['producer_id']}"
    run(abort)
    run(abort + " --yes")
    run(f"eosctl txn hanging -b {bootstrap}")
    run(f"eosctl doctor -b {bootstrap} --fail-on critical")
    run(read)

    say("6. The same from the logs alone: those of the brokers, the payment service and the reader")
    show_mining(mining)
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
        for command in tuple(Background.running):
            command.stop()
        say("Last: stop the cluster; no process or port is left")
        stop_sandbox()
    if status:
        return status
    print(f"\nDone in {time.monotonic() - begun:.0f} s.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
