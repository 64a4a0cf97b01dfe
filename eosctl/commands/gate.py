"""The options that decide the exit code of commands with findings, and how they are completed from `.eosctl.yaml`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer

from eosctl.findings.gate import Gate
from eosctl.findings.gate_rules import Suppression
from eosctl.model.severity import Severity

GATE: Final = "Exit code"
RequireComplete = Annotated[
    bool,
    typer.Option("--require-complete", help="Exit with 4 when evidence is missing.", rich_help_panel=GATE),
]
FailOn = Annotated[
    Severity,
    typer.Option("--fail-on", help="Exit with 3 when a finding is this bad or worse.", rich_help_panel=GATE),
]
FailOnOrRules = Annotated[
    Severity | None,
    typer.Option(
        "--fail-on",
        help="Exit with 3 when a finding is this bad or worse: error, if .eosctl.yaml says nothing else.",
        rich_help_panel=GATE,
    ),
]
ExitZero = Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 whatever is found.", rich_help_panel=GATE)]
MinScore = Annotated[
    int | None,
    typer.Option(
        "--min-score", min=0, max=100, help="Exit with 3 when the score is lower than this.", rich_help_panel=GATE
    ),
]
BaselineFile = Annotated[
    Path | None,
    typer.Option(
        "--baseline", metavar="FILE", help="Known findings, which do not count.", exists=True, rich_help_panel=GATE
    ),
]
WriteBaseline = Annotated[
    Path | None,
    typer.Option(
        "--write-baseline", metavar="FILE", help="Write the findings of this run as a baseline.", rich_help_panel=GATE
    ),
]
RulesFile = Annotated[
    Path | None,
    typer.Option(
        "--rules",
        metavar="FILE",
        help="Suppressions and thresholds; .eosctl.yaml of this folder when there is one.",
        exists=True,
        rich_help_panel=GATE,
    ),
]


class GateOptions(NamedTuple):
    """The options as given; a value of None is left to the project's rules."""

    fail_on: Severity | None = None
    exit_zero: bool = False
    require_complete: bool = False
    min_score: int | None = None
    baseline: Path | None = None
    write_baseline: Path | None = None
    rules: Path | None = None


class GateFiles(NamedTuple):
    """The gate with everything that its files say.

    Attributes:
        gate: The demands on the run.
        suppressions: Findings that the project accepts.
        baseline: Fingerprints of known findings.
    """

    gate: Gate
    suppressions: tuple[Suppression, ...]
    baseline: frozenset[str]


def read_gate(options: GateOptions) -> GateFiles:
    """Complete the options from the project's rules and read the baseline.

    Raises:
        ConfigFileError: The rules or the baseline cannot be read.
    """
    from eosctl.findings.gate_rules import GateRules
    from eosctl.settings.baseline import read_baseline
    from eosctl.settings.gate_file import GATE_FILE, read_gate_rules

    path = options.rules or Path(GATE_FILE)
    rules = read_gate_rules(path) if path.exists() else GateRules()
    gate = Gate(
        options.fail_on or rules.fail_on or Severity.ERROR,
        options.exit_zero,
        options.require_complete,
        rules.min_score if options.min_score is None else options.min_score,
    )
    known = frozenset() if options.baseline is None else read_baseline(options.baseline)
    return GateFiles(gate, _with_ids(rules.suppressions, path), known)


def _with_ids(suppressions: tuple[Suppression, ...], path: Path) -> tuple[Suppression, ...]:
    """Return the suppressions with the ids of the checks that they name.

    Raises:
        ConfigFileError: A name is not that of a check. An unknown id hides nothing, and the run says so.
    """
    if not suppressions:
        return ()
    from msgspec.structs import replace

    from eosctl.checks.registry import CATALOGUE, check_id_of, find_check, names_of
    from eosctl.errors import ConfigFileError, unknown_name

    for one in suppressions:
        if find_check(one.check_id) is None and not one.check_id.startswith("EOS-"):
            error = unknown_name("check", one.check_id, names_of(CATALOGUE), "List them: eosctl check list")
            raise ConfigFileError(f"A suppression in {path}: {error.what}", error.why, error.next_step)
    return tuple(replace(one, check_id=check_id_of(one.check_id)) for one in suppressions)
