"""The commands of a next step reach the cluster that the failed command was about."""

from __future__ import annotations

import pytest

from eosctl.command_line.next_command import CONNECTED, with_connection
from eosctl.errors import EosctlError
from tests.commands.every_command import leaves

TYPED = {"-b": "b:9092", "--command-config": "my client.properties"}
WORDS = "-b b:9092 --command-config 'my client.properties'"


@pytest.mark.parametrize(
    ("step", "completed"),
    [
        ("See: eosctl txn hanging -o wide", f"See: eosctl txn hanging {WORDS} -o wide"),
        ("List all groups: eosctl group lag", f"List all groups: eosctl group lag {WORDS}"),
        ("See: eosctl txn hanging. Then wait.", f"See: eosctl txn hanging {WORDS}. Then wait."),
        ("eosctl doctor names the broker.", f"eosctl doctor {WORDS} names the broker."),
        ("Run: eosctl txn list -b other:1", "Run: eosctl txn list -b other:1"),
        ("Run: eosctl top --profile prod", "Run: eosctl top --profile prod"),
        ("List them: eosctl check list", "List them: eosctl check list"),
        ("Read: eosctl explain FENCED. eosctl top", f"Read: eosctl explain FENCED. eosctl top {WORDS}"),
    ],
)
def test_options_follow_the_words_of_the_command(step: str, completed: str) -> None:
    assert with_connection(EosctlError("what", "why", step), TYPED).next_step == completed
    assert with_connection(EosctlError("what", "why", step), {}).next_step == step


def test_every_command_of_the_list_takes_the_options() -> None:
    taking = {leaf.name for leaf in leaves() if any("--bootstrap-server" in one.opts for one in leaf.parameters)}
    assert set(CONNECTED) <= taking
    missing = {name for name in taking - set(CONNECTED) if name.split()[0] in {"group", "txn", "check"}}
    assert missing == set()
