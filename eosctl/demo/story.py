"""The README's story: a cluster, applications, two faults, the diagnosis, the repair, and the same from the logs."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from eosctl.demo.steps import Background, Steps
from eosctl.errors import EosctlError, UsageError

PROGRAMS: Final = Path(__file__).parent / "programs"
PROGRAM_NAMES: Final = ("consume_transform_produce.py", "payments.py", "read_committed.py")
LOGS: Final = "logs"
REPORT: Final = "doctor.html"
MINING: Final = "mining.log"
# Says that a folder is the demo's own, which it may empty.
OWN: Final = ".eosctl-demo"
# A cluster whose teller was killed without warning goes by itself.
TIME_TO_LIVE: Final = "30m"


def prepare_folder(folder: Path) -> None:
    """Make the folder of a telling, with the programs and nothing of an earlier one.

    Raises:
        UsageError: There is something in it that no demo has made, or it cannot be written.
    """
    try:
        if folder.exists() and not (folder / OWN).exists() and any(folder.iterdir()):
            raise UsageError(
                f"{folder} is not empty, and not the work of an earlier demo.",
                "The demo replaces the files that it writes.",
                "Name another one with --dir, or remove it.",
            )
        _remove_earlier(folder)
        (folder / LOGS).mkdir(parents=True, exist_ok=True)
        (folder / OWN).touch()
        for name in PROGRAM_NAMES:
            shutil.copyfile(PROGRAMS / name, folder / name)
    except OSError as error:
        raise UsageError(
            f"Cannot make the demo's folder {folder}.", error.strerror or str(error), "Name another one with --dir."
        ) from error


def _remove_earlier(folder: Path) -> None:
    """Remove what an earlier telling wrote; what somebody else put there stays."""
    for name in (*PROGRAM_NAMES, REPORT, MINING):
        (folder / name).unlink(missing_ok=True)
    for pattern in ("reader.log", "payments-?.log", "broker-*/*.log*", "controller-*/*.log*"):
        for path in (folder / LOGS).glob(pattern):
            path.unlink()


def tell_story(steps: Steps, sandbox: str, heading: Callable[[str], str]) -> None:
    """Tell the whole story; what was started is stopped again, whatever happens.

    Args:
        steps: Runs the commands, in a folder made by :func:`prepare_folder`.
        sandbox: The name of the cluster, not in use.
        heading: Makes a heading of a line.

    Raises:
        EosctlError: A step ended in another way than the story needs.
    """
    folder, tell = steps.folder, steps.tell

    def chapter(title: str) -> None:
        tell(f"\n{heading(title)}\n")

    chapter("1. A three-broker cluster on loopback; partition verification off, so that a transaction can hang")
    tell(f"$ cd {folder}\n")
    with _cluster(steps, sandbox, chapter) as (bootstrap, data_dir):
        chapter("2. A consume-transform-produce application with confluent-kafka")
        steps.run(f"python consume_transform_produce.py --bootstrap {bootstrap} --seconds 3")

        chapter("3. Two faults: a zombie, and a transaction that no coordinator will ever end")
        _play_zombie(steps, bootstrap)
        hanging = json.loads(steps.run(f"eosctl sandbox scenario hanging --name {sandbox} -o json", show=False))
        tell("".join(f"  {step}\n" for step in hanging["items"][0]["steps"]))
        topic = hanging["items"][0]["report"]["partition"][0]
        read = f"python read_committed.py --bootstrap {bootstrap} --topic {topic}"
        reader = steps.begin(f"{read} --patience-seconds 9", f"{LOGS}/reader.log")

        chapter("4. What is wrong?")
        steps.run(f"eosctl doctor -b {bootstrap} --report {REPORT}", expect=3)

        chapter("5. Look closer, plan, act, verify")
        steps.run(f"eosctl txn hanging -b {bootstrap}", expect=3)
        found = steps.items(f"eosctl txn hanging -b {bootstrap} -o json", expect=3)
        worst = next(item for item in found if item["status"] == "hanging")
        tell(reader.finish())
        mining = _begin_mining(steps, data_dir)
        abort = f"eosctl txn abort -b {bootstrap} --topic {worst['topic']} --partition {worst['partition']}"
        abort += f" --producer-id {worst['producer_id']}"
        steps.run(abort)
        steps.run(f"{abort} --yes")
        steps.run(f"eosctl txn hanging -b {bootstrap}")
        steps.run(f"eosctl doctor -b {bootstrap} --fail-on critical")
        steps.run(read)

        chapter("6. The same from the logs alone: those of the brokers, the payment service and the reader")
        _show_mining(steps, mining)
        tell(f"\nThe report of the first diagnosis: {folder / REPORT}\n")


@contextmanager
def _cluster(steps: Steps, name: str, chapter: Callable[[str], None]) -> Iterator[tuple[str, Path]]:
    """Start the cluster, yield how to reach it and where its data is, and leave nothing running."""
    try:
        steps.run(
            f"eosctl sandbox up --name {name} --brokers 3 --ephemeral --ttl {TIME_TO_LIVE} "
            "--config transaction.partition.verification.enable=false"
        )
        (status,) = steps.items(f"eosctl sandbox status --name {name} -o json")
        yield status["bootstrap"], Path(status["data_dir"])
    finally:
        # First the deed, then the word: nobody may be there any more to hear it.
        steps.stop_all()
        down = f"eosctl sandbox down --name {name}"
        said = steps.ask(down, expect=None)
        chapter("Last: stop the cluster; no process or port is left")
        steps.tell(f"$ {down}\n{said}")


def _play_zombie(steps: Steps, bootstrap: str) -> None:
    """Start a payment service twice with one transactional id; the first instance stands still meanwhile."""
    service = f"python payments.py --bootstrap {bootstrap}"
    first = steps.begin(f"{service} --stand-still", f"{LOGS}/payments-a.log")
    first.wait_for("standing still")
    second = steps.begin(service, f"{LOGS}/payments-b.log")
    second.finish()
    first.finish(expect=1)
    steps.tell("The first instance woke up, was refused, and ended with exit code 1.\n")


def _choose_engine(steps: Steps) -> str:
    """Return what reads the logs: Spark where Java and pyspark are, else eosctl itself with the same result."""
    has_java = shutil.which("java") is not None or "JAVA_HOME" in os.environ
    if has_java and importlib.util.find_spec("pyspark") is not None:
        return "spark"
    missing = "the extra eosctl[spark]" if has_java else "Java"
    steps.tell(f"(Spark needs {missing}, which is not here: eosctl reads the logs itself, with the same result.)\n")
    return "python"


def _begin_mining(steps: Steps, data_dir: Path) -> Background:
    """Put the brokers' logs beside those of the applications, as for a report of an incident, and begin to read."""
    shutil.copytree(data_dir / "logs", steps.folder / LOGS, dirs_exist_ok=True)
    return steps.begin(f"eosctl logs report {LOGS} --engine {_choose_engine(steps)}", MINING)


def _show_mining(steps: Steps, mining: Background) -> None:
    """Print the report and hold it to what was really done."""
    report = mining.finish()
    steps.tell(report)
    for fault, subject in (("producer_fenced", "payment-service"), ("hanging_transaction", "orders-")):
        if fault not in report or subject not in report:
            raise EosctlError(
                f"The demo stopped: the report from logs does not name {fault} of {subject}.",
                "Both were really made, so this is a defect in eosctl.",
                f"Keep the folder {steps.folder} and report it.",
            )
