"""``eosctl verify app`` and ``eosctl verify dlq``: numbered inputs for an application, and what it makes of them."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final, NamedTuple

import typer
from msgspec.structs import replace

from eosctl.command_line.confirmation import can_ask, is_typed
from eosctl.command_line.invocation import Invocation, note
from eosctl.command_line.option_groups import options
from eosctl.commands.diagnosis_output import FindingResultOptions, write_judged
from eosctl.commands.gate import VerdictGate
from eosctl.commands.options import ConnectionOptions, duration_option
from eosctl.commands.session import callbacks
from eosctl.render.verify.application import render_app
from eosctl.services.verification_items import app_item
from eosctl.services.verify_application import Announcement, AppRequest, verify_application
from eosctl.text import time_text

TOPICS: Final = "The application"
INPUTS: Final = "Inputs"
_inputs = partial(typer.Option, rich_help_panel=INPUTS)
_topics = partial(typer.Option, rich_help_panel=TOPICS)

AppOptions = Annotated[
    AppRequest,
    options(
        input_topic=_topics("--read", metavar="TOPIC", help="Topic that the application reads."),
        output_topic=_topics("--write", metavar="TOPIC", help="Topic that the application writes."),
        groups=_topics("--group", metavar="GROUP", help="Group whose offsets are watched; repeatable."),
        mapping=_topics(
            "--mapping", metavar="EXPRESSION", help="Number of outputs of an input: 1, 3, or e.g. 'number % 10 != 0'."
        ),
        input_count=_inputs("--inputs", min=1, max=10_000_000, help="Number of inputs."),
        rate_per_s=_inputs("--rate", min=0.01, max=100_000, help="Inputs per second."),
        key_count=_inputs("--key-count", min=1, max=1_000_000, help="Number of distinct keys."),
        abort_share=_inputs(
            "--abort-share",
            min=0.0,
            max=0.9,
            help="Share of input transactions that are aborted and must not be processed.",
        ),
        template=_inputs(
            "--template",
            help="Value of an input; {tag} is the mark that outputs must contain, {number} and {key} are optional.",
        ),
        seed=_inputs("--seed", min=0, help="Seed of the random choices, to repeat a run."),
        settle_ms=duration_option(
            "--settle", help="Time without new outputs after which missing outputs count as lost."
        ),
        connection=ConnectionOptions,
        gate=VerdictGate,
    ),
]
Unordered = Annotated[bool, _topics("--unordered", help="Accept any order of outputs with the same key.")]
Yes = Annotated[
    bool, typer.Option("--yes", help="Write the inputs; by default, the plan is shown and must be confirmed.")
]
Confirm = Annotated[
    str | None,
    typer.Option("--confirm", metavar="TOPIC", help="Confirmation of the input topic, required by protected profiles."),
]
Poison = Annotated[str, _inputs("--poison", help="Value that the application cannot handle, with {tag}.")]
PoisonShare = Annotated[
    float, _inputs("--poison-share", min=0.0, max=1.0, help="Share of inputs that cannot be handled.")
]
DeadLetters = Annotated[str, _topics("--dlq", metavar="TOPIC", help="Dead-letter topic.")]


class ConsentOptions(NamedTuple):
    """What the command line says about writing the inputs."""

    yes: Yes = False
    confirm: Confirm = None

    def is_given(self, announced: Announcement) -> bool:
        """Show the planned writes, and return whether to continue."""
        for line in announced.lines:
            note(line)
        announced.require(self.confirm)
        if self.yes:
            return True
        if not can_ask():
            note("nothing was written; to do it, add: --yes")
            return False
        return is_typed(announced.topic, f"\nType {announced.topic} to write them, or press Enter to leave it: ")


class TestOptions(NamedTuple):
    """Everything that both commands need to test an application."""

    request: AppOptions
    unordered: Unordered = False
    consent: ConsentOptions = ConsentOptions()
    result: FindingResultOptions = FindingResultOptions()

    def run(self, request: AppRequest, invocation: Invocation) -> None:
        """Test the application, and end with the exit code of the result."""
        with callbacks(invocation.now_ms) as shown:
            tested = verify_application(replace(request, is_ordered=not self.unordered), self.consent.is_given, shown)
        if tested is None:
            return
        item = app_item(tested.plan, tested.report, tested.cluster_id, time_text(tested.began_at_ms))
        result = self.result
        text = render_app(item, tested.judged, result.output, invocation.style(), result.header)
        write_judged(tested.judged, text, result)


def verify_app(invocation: Invocation, test: TestOptions) -> None:
    """Test that an application is exactly-once.

    Writes numbered inputs with checksums and checks the outputs of the running application. Each output must contain
    the mark of its input. The inputs stay in the topic. Exit codes: 0 every input has its outputs exactly once, 2 bad
    input, 3 anomalies, 4 inconclusive.

    Examples:
        eosctl verify app --read orders --write invoices --group billing -b kafka-1:9092
        eosctl verify app --read orders --write invoices --inputs 10000 --yes -b kafka-1:9092
    """
    test.run(test.request, invocation)


def verify_dlq(
    invocation: Invocation,
    test: TestOptions,
    dead_letters: DeadLetters,
    poison: Poison = "poison {tag}",
    poison_share: PoisonShare = 0.1,
) -> None:
    """Test an application that has a dead-letter topic.

    Works like verify app, with inputs that the application cannot handle. Each of those must reach the dead-letter
    topic exactly once, and nothing else may. The exit codes are those of verify app.

    Examples:
        eosctl verify dlq --read orders --write invoices --dlq orders-dlq -b kafka-1:9092
        eosctl verify dlq --read orders --write invoices --dlq orders-dlq --inputs 50 --rate 10
    """
    request = replace(test.request, dead_letter_topic=dead_letters, poison_template=poison, poison_share=poison_share)
    test.run(request, invocation)
