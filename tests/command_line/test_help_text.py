"""The help of every command: how it is written, that its examples can be typed, and how it is laid out."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.main import get_command

from eosctl.command_line.help_text import HelpedCommand, choices_of, manual_of
from eosctl.command_line.lazy import LazyGroup
from tests.commands.conftest import eosctl
from tests.commands.test_registry import ALL, GROUPS

LONGEST_SUMMARY = 60
WIDTH = 80
COMMANDS = {words: command for words, _, command in ALL if not isinstance(command, LazyGroup)}
#: Verbs that summaries begin with; a new one is added here when it is one.
VERBS = re.compile(
    "Abort|Add|Advance|Archive|Check|Compare|Count|Decode|Describe|Diagnose|End|Explain|Export|Extract|Fence|Find|"
    "Fix|Follow|Inject|Inspect|List|Locate|Manage|Measure|Merge|Plan|Print|Query|Remove|Repeat|Report|Run|Save|"
    "Scan|Serve|Show|Sign|Simulate|Start|Stop|Test|Watch|Work|Write"
)


@pytest.mark.parametrize(
    ("words", "command"), [(words, command) for words, _, command in ALL], ids=[words for words, _, _ in ALL]
)
def test_a_summary_is_a_short_imperative(words: str, command: Any) -> None:
    summary = manual_of(command.help).summary
    assert len(summary) <= LONGEST_SUMMARY
    assert VERBS.fullmatch(summary.split()[0].rstrip(","))
    assert summary.endswith(".")
    assert ". " not in summary


@pytest.mark.parametrize("words", [words for words, _, _ in ALL])
def test_help_shows_no_types_of_python_and_fits_the_screen(words: str) -> None:
    text = eosctl(*words.split(), "--help").out.replace("local[*]", "")
    assert re.findall(r"<\w+(?:\[.*?\])?>|\[\[|\]\]|\]\.\.\.\]", text) == []
    body = text.partition("\nExamples:\n")[0].splitlines()
    assert [line for line in body if len(line) > WIDTH] == []


@pytest.mark.parametrize("words", COMMANDS)
def test_every_option_has_a_text_that_is_a_phrase(words: str) -> None:
    for parameter in COMMANDS[words].params:
        assert parameter.help, parameter.name
        assert (
            parameter.help[0].isupper()
            or parameter.help.startswith(("log4j", "state.dir", "application.id"))
            or (".storage.topic" in parameter.help)
        ), parameter.help
        assert parameter.help.rstrip().endswith((".", "]")), parameter.help


@pytest.mark.parametrize("words", COMMANDS)
def test_examples_can_be_typed(words: str) -> None:
    examples = manual_of(COMMANDS[words].help).examples
    has_options = any(opt.opts[0].startswith("-") and opt.name != "help" for opt in COMMANDS[words].params)
    assert 1 + has_options <= len(examples) <= 3
    words = {"fencing explain": "txn blame"}.get(words, words)  # one command with two names
    for example in examples:
        arguments = shlex.split(re.split(r" [<>] ", example.rpartition(" | ")[2])[0])
        assert arguments[0] == "eosctl"
        assert arguments[1:][: len(words.split())] == words.split(), example
        command = COMMANDS[words]
        context = typer.Context(command, info_name="eosctl", **command.context_settings)
        given, rest, _ = command.make_parser(context).parse_args(arguments[1 + len(words.split()) :])
        assert rest == [], example
        for parameter in command.params:
            value = given.get(parameter.name)
            assert not parameter.required or value, f"{example}: {parameter.name} is missing"
            assert not isinstance(value, str) or value in (choices_of(parameter) or [value]), f"{example}: {value}"


@pytest.mark.parametrize("words", ["", *GROUPS])
def test_a_group_alone_prints_its_help(words: str) -> None:
    alone, asked = eosctl(*words.split()), eosctl(*words.split(), "--help")
    assert (alone.code, alone.err) == (0, "")
    assert alone.out.strip() == asked.out.strip()


@pytest.mark.parametrize("words", ["", "txn", "txn abort"])
def test_help_is_a_command_too(words: str) -> None:
    asked = eosctl("help", *words.split())
    assert (asked.code, asked.err) == (0, "")
    assert asked.out.strip() == eosctl(*words.split(), "--help").out.strip()


def test_help_of_an_unknown_command_is_a_usage_error() -> None:
    refused = eosctl("help", "docter")
    assert refused.code == 2
    assert "Did you mean 'doctor'" in refused.err


def test_the_program_shows_six_commands_to_start_with() -> None:
    start = eosctl().out.partition("Start here:\n")[2].partition("\n\n")[0]
    assert len(re.findall(r"^  eosctl ", start, re.MULTILINE)) == 6


def example(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files.")],
    count: Annotated[int, typer.Option("--count", "-c", help="Number of times.", min=1)] = 3,
    flag: Annotated[bool, typer.Option("--flag/--no-flag", help="Whether.")] = False,
    name: Annotated[str, typer.Option("--name", help="Name.", rich_help_panel="More")] = "",
) -> None:
    """Count files.

    A paragraph that
    is wrapped.

    Examples:
        count a b
        count c
    """


def test_the_layout_of_a_command() -> None:
    app = typer.Typer(add_completion=False)
    app.command("count", cls=HelpedCommand)(example)
    command = get_command(app)
    assert typer.Context(command, info_name="count").get_help() == (
        "Count files.\n"
        "\n"
        "Usage: count [OPTIONS] FILE...\n"
        "\n"
        "A paragraph that is wrapped.\n"
        "\n"
        "Arguments:\n"
        "  FILE...  Files.\n"
        "\n"
        "Options:\n"
        "  -c, --count N       Number of times. [default: 3]\n"
        "  --flag / --no-flag  Whether.\n"
        "  --help              Show this message and exit.\n"
        "\n"
        "More:\n"
        "  --name TEXT  Name.\n"
        "\n"
        "Examples:\n"
        "  count a b\n"
        "  count c"
    )
