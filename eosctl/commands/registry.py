"""What commands there are, in the order of the help; the module of each is imported when it is called.

So a command's start does not pay for the others, and the help for none.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from eosctl.commands.coercion import take_plain_values

DIAGNOSE = "Diagnose"
ACT = "Act"
LAB = "Lab"
PLAN = "Plan"
SETTINGS = "Settings"


class Entry(NamedTuple):
    """A command of the first level.

    Attributes:
        name: The word on the command line.
        place: ``module:attribute`` below `eosctl.commands`, a `typer.Typer` or the function of a single command.
        panel: Under which heading the help shows it.
        summary: Its line in the help, the first sentence of its own help.
    """

    name: str
    place: str
    panel: str
    summary: str


COMMANDS = (
    Entry(
        "doctor",
        "doctor.doctor:doctor",
        DIAGNOSE,
        "Collect evidence, run every check that applies, grade, say what to do next.",
    ),
    Entry("check", "check.check:app", DIAGNOSE, "The catalogue of checks."),
    Entry("checklist", "checklist.checklist:app", DIAGNOSE, "Checklists: go-live, upgrades, drills, reviews."),
    Entry("config", "config.config:app", DIAGNOSE, "Configuration files of brokers and applications."),
    Entry(
        "bugs",
        "bugs:bugs",
        DIAGNOSE,
        "List bugs that hurt exactly-once: those of the releases given, or all that are known.",
    ),
    Entry(
        "decode",
        "decode.decode:app",
        DIAGNOSE,
        "Decode Kafka's files: segments, indexes, snapshots, checkpoints, internal topics.",
    ),
    Entry(
        "fsck",
        "fsck:fsck",
        DIAGNOSE,
        "Check data directories: logs, indexes, snapshots, checkpoints, and transactions across them.",
    ),
    Entry("logs", "logs.logs:app", DIAGNOSE, "Incidents and their causes from logs."),
    Entry(
        "explain",
        "explain:explain",
        DIAGNOSE,
        "Explain an error, an exception, a state or a concept: meaning, what clients do, usual causes, next command.",
    ),
    Entry("metrics", "metrics.metrics:app", DIAGNOSE, "Metrics and alerts of exactly-once."),
    Entry(
        "exporter",
        "exporter:exporter",
        DIAGNOSE,
        "Serve Prometheus what no bean of Kafka tells: open and hanging transactions, what they pin, unstable offsets.",
    ),
    Entry("snapshot", "snapshot:app", DIAGNOSE, "Evidence bundles: capture, show, compare."),
    Entry(
        "timeline",
        "timeline:timeline",
        DIAGNOSE,
        "Merge transaction log, batches, group commits and logs into lanes: one an actor, around an id or a time.",
    ),
    Entry("txn", "txn.txn:app", ACT, "Transactions: list, describe, find what hangs, end it."),
    Entry("fencing", "txn.blame:fencing_app", ACT, "Fencing: who took a transactional id from whom."),
    Entry("group", "group.group:app", ACT, "Groups and their offsets."),
    Entry(
        "diagnose",
        "diagnose:diagnose",
        ACT,
        "Find the runbooks for a symptom.",
    ),
    Entry("runbook", "runbook.runbook:app", ACT, "Runbooks that look, decide, ask, act, verify, and leave a record."),
    Entry("dr", "dr:app", ACT, "What survives when a region is lost."),
    Entry("sandbox", "sandbox.sandbox:app", LAB, "A local Kafka cluster with faults on demand."),
    Entry(
        "demo",
        "demo:demo",
        LAB,
        "Tell the whole story: start a cluster, break it, diagnose it, mend it, read its logs.",
    ),
    Entry(
        "verify",
        "verify.verify:app",
        LAB,
        "Verify that a deployment is exactly-once: applications, faults, and the checked history.",
    ),
    Entry("capacity", "capacity.capacity:app", PLAN, "Plan clusters for transactional workloads."),
    Entry("profile", "profile:app", SETTINGS, "Named clusters: how to reach them, and which are protected."),
    Entry("schema", "info:schema", SETTINGS, "Show the JSON Schema of a result, or list what there is."),
    Entry("version", "info:version", SETTINGS, "Show the versions of eosctl, Python and the libraries that matter."),
)


class LazyGroup(TyperGroup):
    """The commands of `COMMANDS`: lines of the help until one of them is called."""

    def __init__(self, **attributes: Any) -> None:
        """Show every command as a line of the help."""
        super().__init__(**attributes)
        self._entries = {entry.name: entry for entry in COMMANDS}
        for entry in COMMANDS:
            self.add_command(TyperCommand(entry.name, help=entry.summary, rich_help_panel=entry.panel))
        take_plain_values(self)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; what is wrong with its arguments is reported without the passwords in them."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            # Typer brings a click of its own, so its errors are known by what they have.
            if hasattr(error, "format_message") and hasattr(error, "message"):
                from eosctl.model.redaction import redact_text

                error.message = redact_text(error.message)
            raise

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the arguments name, loaded, and what is left of them."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, load_command(self._entries[name], rest) if name else command, rest


def load_command(entry: Entry, arguments: Sequence[str] = ()) -> Any:
    """Import a command's module and return the command as typer runs it.

    Args:
        entry: The command.
        arguments: What follows it on the command line; of a group that holds the next word only that is made.
    """
    module, _, attribute = entry.place.partition(":")
    found = getattr(import_module(f"eosctl.commands.{module}"), attribute)
    if not isinstance(found, typer.Typer):
        single = typer.Typer(add_completion=False)
        single.command(entry.name)(found)
        found = single
    found._add_completion = False
    command = _command_of(found, arguments[0] if arguments else "")
    take_plain_values(command)
    command.name = entry.name
    return command


def _command_of(app: typer.Typer, word: str) -> Any:
    named = [info for info in app.registered_commands if info.name == word]
    if not named or len(app.registered_commands) == 1:
        return get_command(app)
    narrowed = copy(app)
    narrowed.registered_commands, narrowed.registered_groups = named, []
    return get_group(narrowed)
