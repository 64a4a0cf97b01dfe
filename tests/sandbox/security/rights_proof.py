"""The proof for each command of `check acl`: exactly its rules give a complete run, each one less is named.

The commands come from `ApplicationKind`, so that a new one is proven from the day on which it has rules. Both
authorizers are asked: that of the sandbox, and that of real brokers.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.analysis.minimal_access import IMPLYING
from eosctl.client.transactions import TV1
from eosctl.errors import ExitCode
from eosctl.model.access import ApplicationKind
from eosctl.model.client_config import ClientConfig
from eosctl.model.transaction import TopicPartition
from eosctl.servers.answers import call
from eosctl.servers.tools import TOOLS
from eosctl.services.callbacks import system_now_ms
from eosctl.services.connection import Connection
from eosctl.settings.clusters.client_resolution import resolve_client
from tests.commands.conftest import Done, eosctl
from tests.commands.every_command import Leaf, leaves
from tests.commands.open_transactions import leave_open, on, skip_marker
from tests.lab.scenarios.stage.hanging import run_hanging
from tests.lab.scenarios.stage.stage import Stage
from tests.sandbox.security import running_application as application
from tests.sandbox.security.own_rights import SETTINGS, Rule, grant

#: The kinds that are commands; `repair` joins several of them.
COMMANDS: Final = tuple(kind for kind in ApplicationKind if kind.is_own and kind is not ApplicationKind.REPAIR)
WITHOUT_RIGHTS: Final = (ApplicationKind.PROFILE_ADD, ApplicationKind.SANDBOX_PROXY)
#: Checks that together need every kind of evidence.
CHECKS: Final = (
    "EOS-SEC-001",
    "EOS-BRK-010",
    "EOS-BRK-003",
    "EOS-OPS-012",
    "EOS-GRP-004",
    "EOS-GRP-008",
    "EOS-TXN-008",
)
CHECKLIST: Final = """\
id: proof
title: Every kind of evidence
purpose: Each item needs another right.
version: 1
items:
""" + "".join(
    f"- {{id: {check.lower()}, kind: automatic, title: {check}, why: It may fail., fix: Read on., checks: [{check}]}}\n"
    for check in CHECKS
)
_WORK: Final = ("--workload", "appends", "--workload", "chain", "--hops", "1", "--duration", "10s", "--rate", "5")
_APP: Final = ("--read", application.INPUTS, "--write", application.OUTPUTS, "--group", application.GROUP)
_INPUTS: Final = ("--inputs", "5", "--rate", "100", "--settle", "20s", "--seed", "3", "--yes")
_GAPS: Final = re.compile(r'(?:^eosctl_evidence_gaps |"evidence_gap_count": ?)(\d+)', re.MULTILINE)
_NAMED: Final = {
    "Cluster": "the cluster",
    "Topic": "topic",
    "TransactionalId": "transactional id",
    "Group": "group",
}
_MADE: Final = count()
#: The settings of a scene's brokers: transactions may hang, and timeouts take effect later than any proof takes.
BROKERS: Final = SETTINGS | {
    "transaction.partition.verification.enable": "false",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "3600000",
}
#: Stands for the options that name the partition of a transaction that hangs.
WHERE: Final = "{where}"


def write_inputs(folder: Path) -> Path:
    """Write the files that some commands read into a folder, and return it."""
    (folder / "checklist.yaml").write_text(CHECKLIST, "utf-8")
    (folder / "server.properties").write_text("process.roles=broker\n", "utf-8")
    return folder


class Scene(NamedTuple):
    """A guarded cluster, as `use_everything` leaves it.

    Attributes:
        bootstrap: Its address.
        admin: The client settings of the user who may do everything.
        alice: Those of the user who gets the rules.
        password: The password of admin.
        folder: Where files of the runs are written.
        stop: Stops a broker.
        start: Starts it again.
    """

    bootstrap: str
    admin: Path
    alice: Path
    password: str
    folder: Path
    stop: Callable[[int], None]
    start: Callable[[int], None]

    @property
    def config(self) -> ClientConfig:
        """Return what a client of admin needs."""
        return resolve_client({}, bootstrap=self.bootstrap, command_config=self.admin).config

    def connection(self, user: Path) -> tuple[str | Path, ...]:
        """Return the options that connect as a user."""
        return "-b", self.bootstrap, "--command-config", user


class Proof(NamedTuple):
    """What a command is given so that it uses all of its rights.

    Attributes:
        options: Its words; `{new}` is a new file name, `{number}` a new number, `{folder}` the folder of the scene,
            `{run}` a run to replay.
        planned: What `check acl` is given in addition to the command.
        endings: The exit codes of a complete run.
        meanwhile: What happens in the cluster during the runs: an application, or a transaction that hangs.
        has_baseline: Whether what is wrong with the cluster is known, and does not count.
        may_find_worse: Whether findings, if there are some with all rights, come before missing evidence.
    """

    options: tuple[str, ...] = ()
    planned: tuple[str, ...] = ()
    endings: tuple[int, ...] = (ExitCode.DONE, ExitCode.FINDINGS)
    meanwhile: Callable[[Scene], AbstractContextManager[TopicPartition | None]] = lambda _: nullcontext()
    has_baseline: bool = False
    may_find_worse: bool = False


@contextmanager
def an_application(scene: Scene) -> Iterator[None]:
    """Run an application."""
    with application.running(scene.config):
        yield


@contextmanager
def only_ended_work(scene: Scene) -> Iterator[None]:
    """End the transactions that refused runs leave to their timeout."""
    try:
        yield
    finally:
        connection = scene.connection(scene.admin)
        listed = eosctl("txn", "list", "--state", "Ongoing", *connection, "-o", "json").json["items"]
        for name in (item["transactional_id"] for item in listed):
            if name.startswith("eosctl-"):
                eosctl("txn", "fence", name, "--yes", *connection)


@contextmanager
def a_late_transaction(scene: Scene) -> Iterator[None]:
    """Leave a transaction open past its timeout, as the brokers of a scene look for such ones once in an hour."""
    name = f"late-{next(_MADE)}"
    on(scene.config, lambda client: leave_open(client, name, topic=name, timeout_ms=1))
    try:
        yield
    finally:
        eosctl("txn", "fence", name, "--yes", *scene.connection(scene.admin))


@contextmanager
def a_late_batch(scene: Scene) -> Iterator[TopicPartition]:
    """Make a transaction hang that is to be aborted, and abort it in the end."""
    stage = Stage(scene.config, system_now_ms, random.Random(7))
    found = asyncio.run(run_hanging(stage, topic=f"late-{next(_MADE)}", patience_ms=10_000))
    try:
        yield found.partition
    finally:
        eosctl("txn", "abort", *_where(found.partition), "--yes", *scene.connection(scene.admin))


@contextmanager
def a_skipped_marker(scene: Scene) -> Iterator[TopicPartition]:
    """Make a transaction hang that is to be completed, and complete it in the end."""
    name = f"skipped-{next(_MADE)}"
    opened = skip_marker(
        scene.config, scene.stop, scene.start, committed=True, dialect=TV1, transactional_id=name, topic=name
    )
    try:
        yield opened.partition
    finally:
        eosctl("txn", "complete", *_where(opened.partition), "--yes", *scene.connection(scene.admin))


def _where(partition: TopicPartition) -> tuple[str, ...]:
    return "--topic", partition.topic, "--partition", str(partition.partition)


_Kind = ApplicationKind
#: Commands without an entry need no words.
PROOFS: Final[Mapping[ApplicationKind, Proof]] = {
    _Kind.DOCTOR: Proof(has_baseline=True),
    _Kind.CHECK_RUN: Proof(has_baseline=True),
    _Kind.SNAPSHOT_CAPTURE: Proof(("{new}.zip",)),
    _Kind.TXN_LIST: Proof(meanwhile=a_late_transaction),
    _Kind.TXN_HANGING: Proof(("--all",), may_find_worse=True),
    _Kind.TXN_DESCRIBE: Proof(("app",)),
    _Kind.TXN_PRODUCERS: Proof(("--topic", "orders")),
    _Kind.TXN_BLAME: Proof(("app",)),
    _Kind.TXN_WATCH: Proof(("--count", "1", "-o", "json")),
    _Kind.TXN_ABORT: Proof((WHERE, "--yes"), meanwhile=a_late_batch),
    _Kind.TXN_COMPLETE: Proof((WHERE, "--yes"), meanwhile=a_skipped_marker),
    _Kind.TXN_FENCE: Proof(("app", "--yes")),
    _Kind.FENCING_EXPLAIN: Proof(("app",)),
    _Kind.GROUP_LAG: Proof(may_find_worse=True),
    _Kind.GROUP_PENDING: Proof(may_find_worse=True),
    _Kind.MCP: Proof(may_find_worse=True),
    _Kind.GROUP_DESCRIBE: Proof(("readers",)),
    _Kind.TOP: Proof(("--count", "1", "-o", "json")),
    # A whole timeline of a log that other proofs made long is rightly incomplete.
    _Kind.TIMELINE: Proof(("--from", "-1s")),
    _Kind.EXPORTER: Proof(("--once",)),
    _Kind.RUNBOOK_RUN: Proof(("producer-fenced",), ("producer-fenced",), endings=(0, 5, 6)),
    _Kind.CHECKLIST_RUN: Proof(("{folder}/checklist.yaml",), has_baseline=True),
    _Kind.CONFIG_LINT: Proof(("{folder}/server.properties", "--with-cluster"), has_baseline=True),
    _Kind.CHECK_ACL: Proof(("check-acl", "--principal", "User:alice")),
    _Kind.CAPACITY_OBSERVE: Proof(("{new}.yaml", "--duration", "2s"), meanwhile=an_application),
    _Kind.CAPACITY_CALIBRATE: Proof(("--yes",), meanwhile=only_ended_work),
    _Kind.DECODE_SEGMENT: Proof(("--topic", "orders"), ("--read", "orders")),
    _Kind.VERIFY_RUN: Proof(_WORK, meanwhile=only_ended_work),
    _Kind.VERIFY_REPLAY: Proof(("{run}",), meanwhile=only_ended_work),
    _Kind.VERIFY_CANARY: Proof(
        ("--topic", "eosctl-canary-{number}", "--duration", "10s", "--rate", "10", "--round", "3", "--partitions", "1"),
        meanwhile=only_ended_work,
    ),
    _Kind.VERIFY_APP: Proof((*_APP, *_INPUTS), _APP, meanwhile=an_application),
    _Kind.VERIFY_DLQ: Proof(
        (*_APP, "--dlq", application.DEAD, "--poison-share", "0.5", *_INPUTS),
        (*_APP, "--write", application.DEAD),
        meanwhile=an_application,
    ),
}


def leaf_of(kind: ApplicationKind) -> Leaf:
    """Return the command that a kind is about."""
    (found,) = (leaf for leaf in leaves() if "-".join(leaf.words) == kind.value)
    return found


def rules_of(kind: ApplicationKind) -> list[Rule]:
    """Return the rules that `check acl` prints for a command."""
    given = PROOFS.get(kind, Proof()).planned
    rules: list[Rule] = eosctl("check", "acl", kind.value, *given, "--principal", "User:alice", "-o", "json").json[
        "items"
    ]
    return rules


def prove(kind: ApplicationKind, scene: Scene) -> None:
    """Run a command with each of its rules left out, and then with all."""
    rules, proof = rules_of(kind), PROOFS.get(kind, Proof())
    assert bool(rules) is (kind not in WITHOUT_RIGHTS)
    if not rules:
        return
    with proof.meanwhile(scene) as where:
        play = _player(kind, proof, scene, where)
        is_worse = proof.may_find_worse and play(scene.admin).code == ExitCode.FINDINGS
        for left_out in rules:
            grant(scene.bootstrap, scene.password, [rule for rule in rules if rule is not left_out])
            done = play(scene.alice)
            assert done.code == ExitCode.INCOMPLETE or (is_worse and done.code == ExitCode.FINDINGS), (left_out, done)
            assert names_right(done, left_out), (left_out, done)
        grant(scene.bootstrap, scene.password, rules)
        done = play(scene.alice)
        assert is_complete(done, proof.endings), done


def is_complete(done: Done, endings: Collection[int] = (ExitCode.DONE, ExitCode.FINDINGS)) -> bool:
    """Return whether a command did what it is for, and names no missing evidence."""
    gaps = sum(map(int, _GAPS.findall(done.out)))
    return done.code in endings and not gaps and "Grant " not in done.out + done.err


def names_right(done: Done, rule: Rule) -> bool:
    """Return whether an output asks for the right of a rule, or for one that it implies or that implies it."""
    text = " ".join((done.out + done.err).split())
    operation, resource = rule["operation"], _NAMED[rule["resource_type"]]
    implied = (one for one, implying in IMPLYING.items() if operation in implying)
    wanted = {operation, *IMPLYING.get(operation, ()), *implied}
    granted = re.findall(rf"Grant ([A-Za-z, ]+) on {resource}", text)
    return any(wanted & set(re.findall(r"\w+", one)) for one in granted)


def _player(kind: ApplicationKind, proof: Proof, scene: Scene, where: TopicPartition | None) -> Callable[[Path], Done]:
    """Return what runs the command as a user, so that missing evidence has an exit code."""
    if kind is _Kind.MCP:
        return lambda user: _call_tools(Connection(scene.bootstrap, user))
    leaf, run = leaf_of(kind), ""
    if kind is _Kind.VERIFY_REPLAY:
        done = eosctl("verify", "run", *_WORK, *scene.connection(scene.admin))
        run = done.err.split("run: ")[1].split()[0]

    def play(user: Path, *more: str | Path) -> Done:
        number = str(next(_MADE))
        values = {"new": str(scene.folder / number), "number": number, "folder": str(scene.folder), "run": run}
        words = [word.format(**values) for word in proof.options if word != WHERE]
        if WHERE in proof.options and where is not None:
            words += _where(where)
        if any("--require-complete" in one.opts for one in leaf.parameters):
            words.append("--require-complete")
        return eosctl(*leaf.words, *words, *more, *scene.connection(user))

    if not proof.has_baseline:
        return play
    known = scene.folder / f"{kind.value}-known.json"
    play(scene.admin, "--write-baseline", known)
    return lambda user: play(user, "--baseline", known)


def _call_tools(connection: Connection) -> Done:
    """Call the tools of `mcp` that read a cluster; incomplete evidence of one of them is that of the run."""
    replies = [call(TOOLS, name, {}, connection) for name in ("doctor", "hanging")]
    return Done(max(reply.exit_code for reply in replies), "", "".join(map(str, replies)))
