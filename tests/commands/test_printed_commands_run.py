"""Every own command that an output prints runs as printed, on a cluster in plain text and on one with SASL_SSL."""

from __future__ import annotations

import asyncio
import itertools
import random
import re
import shlex
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from eosctl.client import connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import GroupIdentity, OffsetToCommit
from eosctl.commands import top
from eosctl.errors import ExitCode
from eosctl.model.client_config import ClientConfig
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.render.page import PLAIN
from eosctl.settings.clusters.client_resolution import resolve_client
from eosctl.testing import SandboxThread
from tests.commands.conftest import Done, eosctl
from tests.commands.test_printed_commands import FAILING, SETTINGS_FILE, findings_in
from tests.lab.scenarios.stage.hanging import run_hanging
from tests.lab.scenarios.stage.stage import Stage
from tests.lab.scenarios.stage.zombie import run_zombie

COMMAND = re.compile(
    r"\beosctl (?:txn|group|check|runbook|timeline|doctor|top) [^#\n]*?(?=\s+#|, which |[.;]?$)", re.MULTILINE
)
#: A runbook whose plan ends before its last step has codes of its own: a stop with advice, and an open question.
RAN = frozenset({ExitCode.DONE, ExitCode.FINDINGS, ExitCode.INCOMPLETE, 5, 6})
#: The options that name a cluster without a secret, and are repeated in printed commands.
NAMING = ("-b", "--profile", "--command-config")
#: Which check, and where logs and metrics are, only the user knows.
OPEN = re.compile(r" (?:explain ID|--logs PATH\)|--metrics URL\))$")
#: What is in no cluster of these tests: the commands reach it, and report that.
ABSENT = re.compile(r"error: Unknown |No transaction is open on this partition|http://b1:9404/metrics does not answer")
pytestmark = pytest.mark.slow  # dozens of commands, some with a second reading a second later


class Site(NamedTuple):
    """A cluster, the words that reach it, and a folder to run commands in."""

    bootstrap: str
    words: tuple[str, ...]
    folder: Path


@pytest.fixture(scope="module", params=["PLAINTEXT", "SASL_SSL", "a profile"])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Make a transaction hang, fence a producer, and hold offsets pending."""
    folder = tmp_path_factory.mktemp("printed")
    is_secured = request.param != "PLAINTEXT"
    settings = {"transaction.partition.verification.enable": "false"}
    secured = {"sasl": ("SCRAM-SHA-512",), "tls": True} if is_secured else {}
    with SandboxThread(fast=False, config=settings, **secured) as cluster:  # type: ignore[arg-type]
        file = folder / SETTINGS_FILE if is_secured else None
        if file is not None:
            file.write_bytes(cluster.client_properties().read_bytes())
        prepare(resolve_client({}, bootstrap=cluster.bootstrap, command_config=file).config)
        words: tuple[str, ...] = ("-b", cluster.bootstrap)
        if request.param == "a profile":
            words = ("--profile", "prod", "-X", "client.id=on call")
            write_profile(folder, cluster.bootstrap, folder / SETTINGS_FILE)
        elif is_secured:
            words += ("--command-config", SETTINGS_FILE)
        yield Site(cluster.bootstrap, words, folder)


@pytest.fixture(autouse=True)
def there(site: Site, monkeypatch: pytest.MonkeyPatch, own_home: Path) -> None:
    """Run commands in the folder with the file of client settings, as a user does."""
    monkeypatch.chdir(site.folder)
    monkeypatch.setenv("EOSCTL_CONFIG_DIR", str(site.folder))


def write_profile(folder: Path, bootstrap: str, settings: Path) -> None:
    """Write a profile that refers to the secrets of a file."""
    lines = [line.split("=", 1) for line in settings.read_text("utf-8").splitlines() if "=" in line and line[0] != "#"]
    values = {"bootstrap.servers": bootstrap, **dict(lines)}
    values["sasl.jaas.config"] = f"${{file:{settings}:sasl.jaas.config}}"
    text = "".join(f"      {name}: '{value}'\n" for name, value in values.items())
    (folder / "profiles.yaml").write_text(f"profiles:\n  prod:\n    properties:\n{text}", "utf-8")


def prepare(config: ClientConfig) -> None:
    stage = Stage(config, lambda: time.time_ns() // 1_000_000, random.Random(7))

    async def play() -> None:
        await run_hanging(stage)
        await run_zombie(stage)
        async with connect(config) as client:
            where = (await ensure_topic(client, "bills")).partitions[0].partition
            producer = TransactionalProducer(client, "app", now_ms=stage.now_ms, transaction_timeout_ms=600_000)
            await producer.init_transactions()
            await producer.send(where, [OutgoingRecord(b"k", b"v")])
            await producer.send_offsets(GroupIdentity("readers"), {where: OffsetToCommit(1)})

    asyncio.run(play())


def run_line(line: str) -> Done:
    program, *words = shlex.split(line)
    assert program == "eosctl"
    return eosctl(*words)


def lines_of(done: Done) -> list[str]:
    """Return the commands in an output that leave nothing to fill in, in its order."""
    return [line for line in dict.fromkeys(COMMAND.findall(done.out + done.err)) if not OPEN.search(line)]


def failures(lines: Sequence[str]) -> list[tuple[str, int, str]]:
    return [(line, done.code, done.err) for line in lines if (done := run_line(line)).code not in RAN]


OUTPUTS = (
    ("doctor", "-o", "wide"),
    ("txn", "hanging", "--all"),
    ("txn", "list"),
    ("txn", "describe", "no-such-id"),
    ("txn", "blame", "payment-service"),
    ("group", "lag"),
    ("group", "describe", "no-such-group"),
    ("fencing", "explain", "payment-service"),
    ("txn", "abort", "--topic", "no-such-topic", "--partition", "0"),
    ("checklist", "run", "eos-go-live"),
    ("runbook", "run", "hanging-transaction", "-i", "topic=orders", "-i", "partition=1"),
)


def test_commands_of_outputs_run_as_printed(site: Site) -> None:
    printed = {line: words for words in OUTPUTS for line in lines_of(eosctl(*words, *site.words))}
    assert len(printed) > 10
    assert failures(list(printed)) == []
    (abort,) = [line for line in printed if line.startswith("eosctl txn abort")]
    assert run_line(f"{abort} --yes").code == ExitCode.DONE
    assert not any("txn abort" in line for line in lines_of(eosctl("txn", "hanging", *site.words)))


def test_commands_of_every_check_reach_the_cluster(site: Site) -> None:
    lines = {
        shape_of(command.line): command.line
        for case in FAILING
        for finding in findings_in(on_site(case.snapshot, site), case)
        for command in (*finding.commands, *finding.verify)
        if command.line.startswith("eosctl ")
    }
    assert len(lines) > 30
    assert [failed for failed in failures(sorted(lines.values())) if not ABSENT.search(failed[2])] == []


def shape_of(line: str) -> str:
    """Return a command without the values of its options, and without the check that it runs."""
    words = shlex.split(re.sub("EOS-[A-Z]+-[0-9]+", "", line))
    first = next((at for at, word in enumerate(words) if word.startswith("-")), len(words))
    return " ".join((*words[:first], *(word for word in words[first:] if word.startswith("-"))))


def on_site(snapshot: ClusterSnapshot, site: Site) -> ClusterSnapshot:
    """Return the snapshot of a case as if the cluster of a site had been read with its options."""
    host, _, port = site.bootstrap.rpartition(":")
    brokers = tuple(replace(one, host=host, port=int(port)) if one.host else one for one in snapshot.brokers)
    file = SETTINGS_FILE if "--command-config" in site.words else ""
    own = site.words if "--profile" in site.words else ()
    return replace(snapshot, brokers=brokers, command_config=file, client_options=own)


def test_an_explanation_in_the_live_view_names_the_cluster(site: Site) -> None:
    options = dict(itertools.pairwise(site.words))
    text = top._explain({name: value for name, value in options.items() if name in NAMING}, "EOS-TXN-001", PLAIN)
    (line,) = [line for line in COMMAND.findall(text) if line.startswith("eosctl check run")]
    assert failures([line]) == []
