"""Generate the page of commands that report findings: their formats and gate options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import typer

from eosctl.command_line.lazy import load_command
from eosctl.commands.gate import GATE
from eosctl.commands.registry import COMMANDS
from eosctl.render.formats import FindingFormat

REPORTING: Final = (
    "doctor",
    "check run",
    "config lint",
    "fsck",
    "logs report",
    "runbook lint",
    "checklist run",
    "verify run",
    "verify replay",
    "verify show",
    "verify app",
    "verify dlq",
)
GATES: Final = (
    "--fail-on", "--exit-zero", "--require-complete", "--min-score", "--baseline", "--write-baseline", "--rules",
)  # fmt: skip


class Offer(NamedTuple):
    """The offer of a command.

    Attributes:
        command: The command without the program's name.
        formats: The values of `--output`.
        gates: The options that determine the exit code.
    """

    command: str
    formats: tuple[str, ...]
    gates: tuple[str, ...]


def offers() -> tuple[Offer, ...]:
    """Return the offer of each command that reports findings."""
    return tuple(map(_offer, REPORTING))


def render_findings_page() -> str:
    """Render the page, in Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    found = offers()
    yield "# Formats and gates of findings"
    yield ""
    yield "Commands that report findings, the formats that `-o` accepts, and the options that decide the exit code."
    yield "This page is generated from the options of the commands."
    yield ""
    yield from _table(
        "Format", tuple(one.value for one in FindingFormat), found, {one.command: one.formats for one in found}
    )
    yield ""
    yield from _table("Option", GATES, found, {one.command: one.gates for one in found})
    yield ""
    yield "Without `--fail-on` and `fail_on` in `.eosctl.yaml`, `fsck` and `runbook lint` fail at warning,"
    yield "`logs report` never, and the others at error. `checklist run` and `verify` require a complete result"
    yield "unless `--no-require-complete` is given. `--baseline` of `logs report` names logs of a healthy time, not"
    yield "findings. `--header` and `--no-header` decide whether `tsv` and `csv` begin with the names of the"
    yield "columns, as `csv` does by default. The codes are listed in [exit codes](exit-codes.md), suppressions and"
    yield "baselines in [doctor](../diagnose/doctor.md)."


def _table(head: str, rows: tuple[str, ...], found: tuple[Offer, ...], of: dict[str, tuple[str, ...]]) -> Iterator[str]:
    yield f"| {head} | {' | '.join(f'`{one.command}`' for one in found)} |"
    yield f"|---|{'---|' * len(found)}"
    for row in rows:
        yield f"| `{row}` | {' | '.join('yes' if row in of[one.command] else '-' for one in found)} |"


def _offer(name: str) -> Offer:
    first, *rest = name.split()
    command: Any = load_command(next(entry for entry in COMMANDS if entry.name == first))
    for part in rest:
        command = command.commands[part]
    options = [
        one
        for one in command.get_params(typer.Context(command, **command.context_settings))
        if one.param_type_name == "option"
    ]
    output = next(one for one in options if "-o" in one.opts)
    gates = {spelling for one in options if one.rich_help_panel == GATE for spelling in one.opts}
    return Offer(
        name,
        tuple(one.value for one in output.type_descriptor.annotation),
        tuple(gate for gate in GATES if gate in gates),
    )
