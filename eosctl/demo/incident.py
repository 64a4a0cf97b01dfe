"""The demonstration of the README: a cluster, applications, two faults, diagnosis, repair, and log analysis."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from eosctl.demo.mining import LOGS, MINING, begin_mining, show_mining
from eosctl.demo.steps import Steps
from eosctl.errors import UsageError

PROGRAMS: Final = Path(__file__).parent / "programs"
PROGRAM_NAMES: Final = ("consume_transform_produce.py", "payments.py", "read_committed.py")
REPORT: Final = "doctor.html"
# Marks a folder of the demonstration, which it may empty.
OWN: Final = ".eosctl-demo"
# Time to live of a cluster whose demonstration was killed, longer than any run takes.
TIME_TO_LIVE: Final = "12h"


def prepare_folder(folder: Path) -> None:
    """Create the folder of a demonstration with the programs, and remove an earlier one.

    Raises:
        UsageError: It contains other files, or cannot be written.
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
    """Remove the files of an earlier demonstration; other files stay."""
    for name in (*PROGRAM_NAMES, REPORT, MINING):
        (folder / name).unlink(missing_ok=True)
    for pattern in ("reader.log", "payments-?.log", "broker-*/*.log*", "controller-*/*.log*"):
        for path in (folder / LOGS).glob(pattern):
            path.unlink()


def play_incident(steps: Steps, sandbox: str, heading: Callable[[str], str]) -> None:
    """Run the whole demonstration; stop everything at the end in any case.

    Args:
        steps: Runs the commands, in a folder from `prepare_folder`.
        sandbox: The name of the cluster, not in use.
        heading: Formats a line as a heading.

    Raises:
        EosctlError: A step had an unexpected result.
    """
    folder, show = steps.folder, steps.show

    def chapter(title: str) -> None:
        show(f"\n{heading(title)}\n")

    chapter("1. A three-broker cluster on loopback; partition verification off, so that a transaction can hang")
    show(f"$ cd {folder}\n")
    with (
        tempfile.TemporaryDirectory(prefix="eosctl-demo-", ignore_cleanup_errors=True) as temporary,
        _cluster(steps, sandbox, chapter) as (bootstrap, data_dir),
    ):
        chapter("2. A consume-transform-produce application with confluent-kafka")
        steps.run(f"python consume_transform_produce.py --bootstrap {bootstrap} --seconds 3")

        chapter("3. Two faults: a zombie, and a transaction that no coordinator will ever end")
        _play_zombie(steps, bootstrap)
        hanging = json.loads(steps.run(f"eosctl sandbox scenario hanging --name {sandbox} -o json", show=False))
        show("".join(f"  {step}\n" for step in hanging["items"][0]["steps"]))
        read = f"python read_committed.py --bootstrap {bootstrap} --topic orders"
        reader = steps.begin(f"{read} --patience-seconds 9", f"{LOGS}/reader.log")

        chapter("4. What is wrong?")
        steps.run(f"eosctl doctor -b {bootstrap} --report {REPORT}", expect=3)

        chapter("5. Look closer, plan, act, verify")
        steps.run(f"eosctl txn hanging -b {bootstrap}", expect=3)
        found = steps.items(f"eosctl txn hanging -b {bootstrap} -o json", expect=3)
        worst = next(item for item in found if item["status"] == "hanging")
        show(reader.finish())
        mining = begin_mining(steps, data_dir, Path(temporary))
        abort = f"eosctl txn abort -b {bootstrap} --topic {worst['topic']} --partition {worst['partition']}"
        abort += f" --producer-id {worst['producer_id']}"
        steps.run(abort)
        steps.run(f"{abort} --yes")
        steps.run(f"eosctl txn hanging -b {bootstrap}")
        steps.run(f"eosctl doctor -b {bootstrap} --fail-on critical")
        steps.run(read)

        chapter("6. The same from the logs alone: those of the brokers, the payment service and the reader")
        show_mining(steps, mining)
        show(f"\nThe report of the first diagnosis: {folder / REPORT}\n")
    for shortfall in steps.shortfalls:
        show(f"\nNot all went well: {shortfall}\n")


@contextmanager
def _cluster(steps: Steps, name: str, chapter: Callable[[str], None]) -> Iterator[tuple[str, Path]]:
    """Start the cluster, yield its address and data directory, and stop everything at the end."""
    try:
        steps.run(
            f"eosctl sandbox up --name {name} --brokers 3 --ephemeral --ttl {TIME_TO_LIVE} "
            "--config transaction.partition.verification.enable=false"
        )
        (status,) = steps.items(f"eosctl sandbox status --name {name} -o json")
        yield status["bootstrap"], Path(status["data_dir"])
    finally:
        # Stop first, then print, since the output may be closed.
        steps.stop_all()
        down = f"eosctl sandbox down --name {name}"
        said = steps.ask(down, expect=None)
        chapter("Last: stop the cluster; no process or port is left")
        steps.show(f"$ {down}\n{said}")


def _play_zombie(steps: Steps, bootstrap: str) -> None:
    """Start a payment service twice with one transactional id; the first instance is paused meanwhile."""
    service = f"python payments.py --bootstrap {bootstrap}"
    first = steps.begin(f"{service} --stand-still", f"{LOGS}/payments-a.log")
    first.wait_for("standing still")
    second = steps.begin(service, f"{LOGS}/payments-b.log")
    second.finish()
    first.finish(expect=1)
    steps.show("The first instance woke up, was refused, and ended with exit code 1.\n")
