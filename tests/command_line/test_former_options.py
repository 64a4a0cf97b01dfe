"""Former names of options are accepted, noted, and shown in no help."""

from __future__ import annotations

import pytest

from eosctl.command_line.former_options import FORMER, with_todays_names
from eosctl.command_line.lazy import Entry, LazyGroup, load_command
from eosctl.commands.registry import COMMANDS
from tests.commands.conftest import eosctl


def options_by_place() -> dict[str, set[str]]:
    """Return the options of every command."""
    found: dict[str, set[str]] = {}

    def walk(entry: Entry) -> None:
        command = load_command(entry)
        if isinstance(command, LazyGroup):
            for below in command.entries.values():
                walk(below)
        else:
            found[entry.place] = {name for parameter in command.params for name in parameter.opts}

    for entry in COMMANDS:
        walk(entry)
    return found


def test_former_names_lead_to_options_and_hide_none() -> None:
    options = options_by_place()
    for place, renamed in FORMER.items():
        assert {one.name for one in renamed.values()} <= options[place], place
        assert not set(renamed) & options[place], place


def test_a_former_name_works_and_is_noted() -> None:
    former, today = eosctl("bugs", "--clients", "4.0.2"), eosctl("bugs", "--client-version", "4.0.2")
    assert (former.code, former.out) == (0, today.out)
    assert "note: --clients is now --client-version" in former.err
    assert "--clients" not in eosctl("bugs", "--help").out


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        (["--interval-ms", "50", "log"], ["--interval", "50ms", "log"]),
        (["--interval-ms=50"], ["--interval=50ms"]),
        (["--for", "3", "--", "--for"], ["--duration", "3s", "--", "--for"]),
        (["log", "--idle", "1s"], ["log", "--idle", "1s"]),
    ],
)
def test_values_get_the_unit_that_they_had(given: list[str], taken: list[str]) -> None:
    assert with_todays_names("logs.watch:watch_logs", given) == taken
