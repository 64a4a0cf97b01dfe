"""An option means the same in every command that has it, and its value has the same form."""

from __future__ import annotations

from typing import Any, get_args, get_origin

import pytest
import typer

from eosctl.command_line.help_text import choices_of
from tests.command_line.test_help_text import COMMANDS

#: The form of the value where types differ on purpose, with the reason.
SEVERAL_FORMS = {
    "--baseline": "known findings, or what is known of another kind: an earlier result of a job, logs of a quiet time",
    "--brokers": "a number; capacity init takes the answer to its question, which may have a unit",
    "--clients": "the protocol of clients; verify run can name their library as well",
    "--confirm": "the name of what changes, whatever that is",
    "--data-dir": "Kafka's data directories, read or written",
    "--engine": "the program that does the work: of a cluster, or of a scan",
    "--fault": "a kind of fault, with its parameters where it starts immediately",
    "--format": "the format of files of another kind than --output",
    "--from": "the start of a range: a time, and in a log also an offset",
    "--kafka-version": "a release of Kafka; dumps imitate only two of them",
    "--listen": "an address with a port; brokers of a sandbox have a port each, so it is an address alone",
    "--only": "a selection of what is shown",
    "--output": "the format of the result, each command with those that it has",
    "--partitions": "a number; capacity init takes the answer to its question",
    "--producers": "a number; capacity init takes the answer to its question",
    "--rate": "a rate, with its unit where a workload file is written",
    "--topic": "the name of a topic",
    "--transactional-id": "the transactional id",
}


def form(option: Any) -> str:
    """Return what a value looks like: its placeholder, its choices, or its type."""
    if option.is_flag:
        return "flag"
    kind = option.type_descriptor.annotation
    kind = get_args(kind)[0] if get_origin(kind) is list else kind
    return option.metavar or "|".join(choices_of(option)) or kind.__name__


FORMS: dict[str, dict[str, list[str]]] = {}
for _words, _command in COMMANDS.items():
    for _option in _command.params:
        if isinstance(_option, typer.core.TyperOption):
            for _name in (name for name in _option.opts if name.startswith("--")):
                FORMS.setdefault(_name, {}).setdefault(form(_option), []).append(_words)


@pytest.mark.parametrize("name", FORMS)
def test_an_option_has_one_form_in_all_commands(name: str) -> None:
    assert len(FORMS[name]) == 1 or name in SEVERAL_FORMS, FORMS[name]


def test_every_exception_is_needed() -> None:
    assert [name for name in SEVERAL_FORMS if len(FORMS.get(name, {})) < 2] == []


@pytest.mark.parametrize(
    ("word", "instead"),
    [
        ("--for", "--duration"),
        ("--force", "--replace"),
        ("--groups", "--group"),
        ("--input-topic", "--read"),
        ("--kafka", "--kafka-version"),
        ("--interval-ms", "--interval"),
        ("--time-range", "--from and --to"),
    ],
)
def test_the_same_thing_has_one_word(word: str, instead: str) -> None:
    assert word not in FORMS, f"write {instead}"
