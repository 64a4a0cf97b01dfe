"""Every command that the product prints is one that its own command line takes."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
from msgspec.structs import replace

from eosctl.checks.declaration import Case
from eosctl.checks.partition_commands import PLAN_FILE
from eosctl.checks.registry import find_check
from eosctl.checks.runner import run_check
from eosctl.cli import app
from eosctl.findings.bootstrap import bootstrap_of, complete_commands
from eosctl.findings.diagnosis import Diagnosis, Grade
from eosctl.findings.finding import Finding
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.runbooks.advice import name_runbooks
from tests.checks.cases import CheckCase, all_cases
from tests.command_line.test_help_text import COMMANDS

PACKAGE = Path(__file__).parents[2] / "eosctl"
#: A name that a shell splits when a command line does not quote it.
SETTINGS_FILE = "my client.properties"
FAILING = [case for case in all_cases() if case.expect == "failed"]
ROOT: Any = typer.main.get_command(app)
TOPMOST = {words.split()[0] for words in COMMANDS}
#: In prose, a group stands before a verb: "eosctl decode prints the same".
PROSE = re.compile(r"(prints|puts?|does|shows)\b")


class Printed(NamedTuple):
    """A command of a finding."""

    case: CheckCase
    line: str


def parse(line: str) -> None:
    """Parse a command line as the program does, without running it; the error names what is wrong."""
    program, *words = shlex.split(line)
    assert program == "eosctl", line
    command, context = ROOT, ROOT.make_context(program, words)
    while hasattr(command, "resolve_command"):
        name, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        context = command.make_context(name, rest, parent=context)


def findings_of(case: CheckCase) -> tuple[Finding, ...]:
    """Return the findings of a case as `doctor` prints them, for a cluster that needs a file of client settings."""
    return findings_in(replace(case.snapshot, command_config=SETTINGS_FILE), case)


def findings_in(snapshot: ClusterSnapshot, case: CheckCase) -> tuple[Finding, ...]:
    """Return the findings that the check of a case has in a snapshot, as `doctor` prints them."""
    check = find_check(case.check_id)
    assert check is not None
    result = run_check(check, Case(snapshot, case.limits))
    diagnosis = name_runbooks(Diagnosis("", 0, (result,), Grade("F", 0)), bootstrap_of(snapshot))
    return complete_commands(diagnosis, snapshot).findings


def printed_commands() -> Iterator[Printed]:
    for case in FAILING:
        for finding in findings_of(case):
            for command in (*finding.commands, *finding.verify):
                yield Printed(case, command.line)


PRINTED = list(printed_commands())


def test_every_check_with_a_command_is_here() -> None:
    assert len({one.case.check_id for one in PRINTED}) > 50
    assert len(PRINTED) > 200


def test_own_commands_are_taken_by_the_parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(SETTINGS_FILE).write_text("bootstrap.servers=b:1\n", "utf-8")
    for _, line in PRINTED:
        if line.startswith("eosctl "):
            parse(line)


def test_commands_reach_the_cluster_with_the_same_options() -> None:
    for case, line in PRINTED:
        words = shlex.split(line)
        if {"-b", "--bootstrap-server"} & set(words):
            own = {"kafka-leader-election.sh": "--admin.config", "kafka-console-consumer.sh": "--consumer.config"}
            assert words[words.index(own.get(words[0], "--command-config")) + 1] == SETTINGS_FILE, f"{case}: {line}"


def test_no_command_has_a_part_left_to_fill_in() -> None:
    for case, line in PRINTED:
        assert "..." not in line, f"{case}: {line}"
        assert not re.search(r"\b(VALUE|NAME|FILE|TOPIC|ID)\b", line), f"{case}: {line}"


def test_a_file_that_a_command_reads_is_written_before() -> None:
    for case in FAILING:
        for finding in findings_of(case):
            lines = [command.line for command in finding.commands]
            readers = [at for at, line in enumerate(lines) if f"-file {PLAN_FILE}" in line]
            assert all(any(f"> {PLAN_FILE}" in line for line in lines[:at]) for at in readers), case


def test_a_printed_plan_is_what_kafkas_tool_reads(tmp_path: Path) -> None:
    (case, line) = next(one for one in PRINTED if f"> {PLAN_FILE}" in one.line)
    subprocess.run(["sh", "-ec", line], cwd=tmp_path, check=True)
    plan = json.loads((tmp_path / PLAN_FILE).read_text("utf-8"))
    topic = next(topic for topic in case.snapshot.topics if topic.name == plan["partitions"][0]["topic"])
    held = {info.partition.partition: list(info.replicas) for info in topic.partitions}
    assert plan["version"] == 1
    for entry in plan["partitions"]:
        before = held[entry["partition"]]
        assert entry["replicas"][: len(before)] == before
        assert len(set(entry["replicas"])) == len(entry["replicas"]) > len(before)


def mentions() -> Iterator[tuple[str, list[str]]]:
    """Return the commands that texts of the product mention, with their place."""
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix not in {".py", ".yaml", ".toml"} or "generated" in path.parts:
            continue
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            for found in re.finditer(r"\beosctl +(?=[a-z])", line):
                text = re.split(r"[`\"]|\\n|; |\. |, | \| |\)|'(?=[ ,.)]|$)", line[found.end() :])[0]
                words = [word.rstrip(".,;:") for word in text.split()]
                if words and words[0] in TOPMOST:
                    yield f"{path.relative_to(PACKAGE)}:{number}", words


def flaw_of(words: list[str]) -> str:
    """Return what is wrong with a mentioned command, or an empty text."""
    names = (" ".join(words[:count]) for count in (3, 2, 1))
    name = next((name for name in names if name in COMMANDS), None)
    if name is None:
        is_prose = len(words) < 2 or PROSE.match(words[1]) or not re.fullmatch("[a-z-]+", words[1])
        return "" if is_prose else f"no command {' '.join(words[:2])}"
    known = {
        "-h",
        "--help",
        *(text for param in COMMANDS[name].params for text in (*param.opts, *param.secondary_opts)),
    }
    options = (word.partition("=")[0] for word in words if re.match("--?[a-zA-Z]", word))
    return ", ".join(f"{name} has no {option}" for option in options if option not in known)


def test_texts_mention_commands_and_options_that_exist() -> None:
    found = list(mentions())
    assert len(found) > 400
    assert [(where, flaw) for where, words in found if (flaw := flaw_of(words))] == []


@pytest.mark.parametrize(
    ("line", "flaw"),
    [
        ("txn timeline", "no command txn timeline"),
        ("decode topic orders", "no command decode topic"),
        ("txn hanging --everything", "txn hanging has no --everything"),
        ("decode prints the same", ""),
        ("doctor -b HOST:PORT", ""),
    ],
)
def test_a_mention_that_does_not_exist_is_found(line: str, flaw: str) -> None:
    assert flaw_of(line.split()) == flaw


@pytest.mark.parametrize(
    "line",
    [
        "eosctl runbook run hanging-transaction -b 'h:1 --command-config f' --no-such-option",
        "eosctl txn describe",
        "eosctl no-such-command",
    ],
)
def test_a_line_that_does_not_parse_is_refused(line: str) -> None:
    with pytest.raises(Exception, match=r"No such|Missing"):
        parse(line)
