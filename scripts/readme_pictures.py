"""Make the README's example and the pictures of README and docs from a real run.

A sandbox of three brokers gets a hanging transaction; doctor finds it, and txn abort ends it. The snapshot of that
moment becomes examples/hanging.json.gz, what the terminal showed becomes docs/images/incident.svg, and the top of its
HTML report docs/images/report.png (needs Chromium). The live view of the same moment is docs/images/top.svg, and its
timeline docs/images/timeline.png and, as a telephone shows it, timeline-narrow.png. With a second sandbox and a cluster
that is away, doctor writes the page of docs/images/fleet.png.

    python -m scripts.readme_pictures
"""

from __future__ import annotations

import asyncio
import fcntl
import gzip
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from eosctl.client import connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.model.client_config import ClientConfig
from eosctl.render.top.app import TopActions, TopApp
from eosctl.render.top.rows import Rows
from eosctl.services import watch_transactions
from eosctl.services.callbacks import Callbacks, system_now_ms
from eosctl.services.connection import Connection
from eosctl.settings.clusters.endpoints import parse_endpoints

ROOT: Final = Path(__file__).resolve().parent.parent
IMAGES: Final = ROOT / "docs" / "images"
COLUMNS: Final = 100
#: Lines of a long output that a picture shows.
LINES: Final = 19
#: Pixels of the page that the picture of the report shows; the width of a telephone.
WIDTH: Final = 1280
HEIGHT: Final = 745
NARROW: Final = 400
NAME: Final = "readme"
OTHER: Final = "readme-other"
ADDRESS: Final = re.compile(r"127\.0\.0\.1:\d+(?:,127\.0\.0\.1:\d+)*")
ABORT: Final = ("txn", "abort", "--topic", "orders", "--partition", "2")


def eosctl(*arguments: str, succeeds: bool = True) -> str:
    """Run a command on a terminal of `COLUMNS` columns and return its result in colors, without its progress."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    environment = os.environ | {"TERM": "xterm-256color"}
    command = [sys.executable, "-m", "eosctl", *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        os.close(theirs)
        shown = b"".join(_read(ours))
    os.close(ours)
    if succeeds and process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}:\n{shown.decode()}")
    return shown.decode().replace("\r\n", "\n")


def _read(descriptor: int) -> Iterator[bytes]:
    while True:
        try:
            data = os.read(descriptor, 65536)
        except OSError:  # Linux reports the end of a terminal so.
            return
        if not data:
            return
        yield data


def on_sandbox(*arguments: str, succeeds: bool = True) -> str:
    """Run an eosctl command on the sandbox and return what it showed."""
    return eosctl(
        "sandbox", "exec", "--name", NAME, "--", sys.executable, "-m", "eosctl", *arguments, succeeds=succeeds
    )


def picture(path: Path, title: str, steps: list[tuple[str, str]]) -> None:
    """Write an SVG of commands and what they showed; of long output its first lines."""
    console = Console(record=True, width=COLUMNS, file=Path(os.devnull).open("w"))  # noqa: SIM115 - the process ends
    for command, shown in steps:
        console.print(Text(f"$ {command}", "bold green"))
        lines = shown.rstrip().splitlines()
        for line in lines[:LINES]:
            text = Text.from_ansi(line)
            for part in text.divide(range(COLUMNS, len(text), COLUMNS)):  # as a terminal folds a line that is too long
                console.print(part, soft_wrap=True)
        if len(lines) > LINES:
            console.print(Text(f"... {len(lines) - LINES} more lines", "dim"))
        console.print()
    # The names of styles contain a digest of the content; a fixed one keeps the file the same for the same text.
    # A picture loads nothing from the network: the reader's own monospaced font serves.
    layout = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    path.write_text(console.export_svg(title=title, unique_id="eosctl", code_format=layout), "utf-8")


def screenshot(page: Path, name: str, width: int, height: int) -> None:
    """Write the top of an HTML page as a picture of the documentation."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise SystemExit("Chromium is needed for the pictures of pages.")
    subprocess.run(
        [chromium, "--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={width},{height}",
         f"--screenshot={IMAGES / name}", page.as_uri()],
        check=True, capture_output=True,
    )  # fmt: skip


def pages(folder: Path, bootstrap: str) -> None:
    """Write the pictures of the timeline, and of the page on three clusters: two sandboxes, and one that is away."""
    timeline, fleet = folder / "timeline.html", folder / "fleet.html"
    on_sandbox("timeline", "--topic-partition", "orders-2", "-o", "html", "--output-file", str(timeline))
    screenshot(timeline, "timeline.png", WIDTH, 640)
    screenshot(timeline, "timeline-narrow.png", NARROW, 860)
    os.environ["EOSCTL_CONFIG_DIR"] = str(folder)
    eosctl("sandbox", "up", "--name", OTHER, "--ephemeral", "--ttl", "10m")
    try:
        other = ADDRESS.search(eosctl("sandbox", "status", "--name", OTHER))
        assert other is not None
        for profile, address in (("ams", other[0]), ("fra", bootstrap), ("lon", "127.0.0.1:1")):
            eosctl("profile", "add", f"prod-{profile}", "-b", address)
        eosctl("doctor", "--profile", "prod-*", "--report", str(fleet), succeeds=False)
    finally:
        eosctl("sandbox", "down", "--name", OTHER)
        del os.environ["EOSCTL_CONFIG_DIR"]
    screenshot(fleet, "fleet.png", WIDTH, HEIGHT)


async def live_view(path: Path, bootstrap: str) -> None:
    """Write what `eosctl top` shows of the hanging transaction and of three healthy ones."""
    request = watch_transactions.TransactionWatchRequest(Connection(bootstrap), interval_ms=1_000)
    watch = partial(watch_transactions.keep_watching, request, callbacks=Callbacks(system_now_ms))
    async with connect(ClientConfig(parse_endpoints(bootstrap, "readme"))) as client:
        places = [info.partition for info in (await ensure_topic(client, "payments", partition_count=3)).partitions]
        for name, place in zip(("payments-eu", "payments-us", "refunds"), places, strict=True):
            producer = TransactionalProducer(client, name, now_ms=system_now_ms)
            await producer.init_transactions()
            await producer.send(place, [OutgoingRecord(b"key", b"value")])
            await asyncio.sleep(1.5)
        app = TopApp(TopActions(watch, None, lambda check_id, style: check_id, system_now_ms))
        async with app.run_test(size=(COLUMNS, 10)) as pilot:
            while app.query_one(Rows).virtual_size.height <= len(places) + 1:
                await pilot.pause(0.1)
            drawn = app.export_screenshot(title="eosctl top")
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)
    path.write_text(re.sub(r"terminal-\d+", "eosctl-top", ADDRESS.sub("localhost:9092", drawn)), "utf-8")


def save_example(snapshot: Path) -> None:
    """Write the example, with the directories of brokers instead of those of this machine."""
    text = re.sub(r'"/[^"]*/data/broker-(\d)', r'"/var/lib/kafka/broker-\1', snapshot.read_text("utf-8"))
    (ROOT / "examples" / "hanging.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def main() -> None:
    """Run the incident and write the files."""
    eosctl("sandbox", "up", "--name", NAME, "--ephemeral", "--ttl", "10m", "--config",
           "transaction.partition.verification.enable=false")  # fmt: skip
    try:
        eosctl("sandbox", "scenario", "hanging", "--name", NAME)
        with tempfile.TemporaryDirectory() as folder:
            snapshot = Path(folder) / "hanging.json"
            doctor = on_sandbox("doctor", "--save-snapshot", str(snapshot), succeeds=False)
            save_example(snapshot)
            page = Path(folder) / "report.html"
            example = str(ROOT / "examples" / "hanging.json.gz")
            eosctl("doctor", "--snapshot", example, "-o", "html", "--output-file", str(page), succeeds=False)
            screenshot(page, "report.png", WIDTH, HEIGHT)
            bootstrap = ADDRESS.search(on_sandbox("sandbox", "status", "--name", NAME))
            assert bootstrap is not None
            pages(Path(folder), bootstrap[0])
        asyncio.run(live_view(IMAGES / "top.svg", bootstrap[0]))
        steps = [
            ("eosctl doctor -b localhost", doctor),
            ("eosctl txn abort --topic orders --partition 2 --yes -b localhost", on_sandbox(*ABORT, "--yes")),
            ("eosctl txn hanging -b localhost", on_sandbox("txn", "hanging")),
        ]
    finally:
        eosctl("sandbox", "down", "--name", NAME)
    shown = [(command, ADDRESS.sub("localhost:9092", text)) for command, text in steps]
    picture(IMAGES / "incident.svg", "eosctl finds and ends a hanging transaction", shown)


if __name__ == "__main__":
    main()
