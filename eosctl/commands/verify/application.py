"""``eosctl verify app`` and ``eosctl verify dlq``: numbered inputs for an application, and what it makes of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.invocation import Invocation, invocation_of, note, write_result
from eosctl.commands.options import Bootstrap, CommandConfig, OutputFile, Overrides, Profile, Timeout, parse_duration_ms
from eosctl.commands.session import resolve_connection
from eosctl.commands.verify.options import VerifyForm, exit_code
from eosctl.errors import UsageError
from eosctl.render.verify.application import render_app
from eosctl.render.verify.application_items import app_item
from eosctl.render.verify.items import VerifyFormat
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    from eosctl.client.client import Client
    from eosctl.lab.verify.app import AppPlan
    from eosctl.settings.client_resolution import ResolvedClient

TOPICS = "The application"
INPUTS = "Inputs"
_EXAMPLE_NUMBER = 17

Input = Annotated[str, typer.Option("--input", metavar="TOPIC", help="What it reads.", rich_help_panel=TOPICS)]
Outputs = Annotated[str, typer.Option("--output", metavar="TOPIC", help="What it writes.", rich_help_panel=TOPICS)]
Groups = Annotated[
    list[str] | None,
    typer.Option(
        "--groups", metavar="GROUP", help="A group whose offsets are watched; repeatable.", rich_help_panel=TOPICS
    ),
]
Mapping = Annotated[
    str,
    typer.Option(
        "--mapping",
        metavar="EXPRESSION",
        help="How many outputs an input has: 1, 3, or e.g. 'number % 10 != 0'.",
        rich_help_panel=TOPICS,
    ),
]
Unordered = Annotated[
    bool,
    typer.Option(
        "--unordered", help="Outputs of one key need not keep the order of their inputs.", rich_help_panel=TOPICS
    ),
]
Count = Annotated[int, typer.Option("--count", min=1, max=10_000_000, help="How many.", rich_help_panel=INPUTS)]
Rate = Annotated[float, typer.Option("--rate", min=0.01, max=100_000, help="Per second.", rich_help_panel=INPUTS)]
Keys = Annotated[int, typer.Option("--keys", min=1, max=1_000_000, help="Different keys.", rich_help_panel=INPUTS)]
AbortShare = Annotated[
    float,
    typer.Option(
        "--abort-share",
        min=0.0,
        max=0.9,
        help="Share of their transactions that is aborted: nobody may handle those.",
        rich_help_panel=INPUTS,
    ),
]
Template = Annotated[
    str,
    typer.Option(
        "--template",
        help="A value; {tag} is the mark that outputs must keep, {number} and {key} may help.",
        rich_help_panel=INPUTS,
    ),
]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Repeat the same choices.", rich_help_panel=INPUTS)]
Settle = Annotated[
    int,
    typer.Option(
        "--settle",
        metavar="DURATION",
        parser=parse_duration_ms,
        help="For how long nothing new may come before outputs count as lost.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Write the inputs; without it the plan is shown and asked about.")]
Confirm = Annotated[
    str | None, typer.Option("--confirm", metavar="TOPIC", help="The input again; protected profiles ask for it.")
]


def verify_app(
    context: typer.Context,
    input_topic: Input,
    output_topic: Outputs,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    group: Groups = None,
    mapping: Mapping = "1",
    unordered: Unordered = False,
    count: Count = 1_000,
    rate: Rate = 200.0,
    keys: Keys = 10,
    abort_share: AbortShare = 0.1,
    template: Template = "{tag}",
    seed: Seed = None,
    settle_ms: Settle = "15s",  # type: ignore[assignment]
    yes: Yes = False,
    confirm: Confirm = None,
    form: VerifyForm = VerifyFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Test an application of any kind: write numbered, checksummed inputs, and check what it makes of them.

    It must be running, and each output must contain the mark of its input. Inputs are written to the named topic, for
    good. The exit code is 0 when every input has its outputs exactly once, 3 when not, 4 when the test decides nothing.
    """
    invocation = invocation_of(context)
    plan = _plan(
        invocation, input_topic, output_topic, group, count, rate, keys, abort_share, template, seed, settle_ms
    )
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    _test(plan, mapping, not unordered, connection, invocation, _Consent(yes, confirm), form, output_file)


def verify_dlq(
    context: typer.Context,
    input_topic: Input,
    output_topic: Outputs,
    dead_letters: Annotated[
        str, typer.Option("--dlq", metavar="TOPIC", help="Its dead-letter topic.", rich_help_panel=TOPICS)
    ],
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    group: Groups = None,
    mapping: Mapping = "1",
    unordered: Unordered = False,
    count: Count = 1_000,
    rate: Rate = 200.0,
    keys: Keys = 10,
    abort_share: AbortShare = 0.1,
    template: Template = "{tag}",
    poison: Annotated[
        str, typer.Option("--poison", help="A value that it cannot handle, with {tag}.", rich_help_panel=INPUTS)
    ] = "poison {tag}",
    poison_share: Annotated[
        float, typer.Option("--poison-share", min=0.0, max=1.0, help="Share of those.", rich_help_panel=INPUTS)
    ] = 0.1,
    seed: Seed = None,
    settle_ms: Settle = "15s",  # type: ignore[assignment]
    yes: Yes = False,
    confirm: Confirm = None,
    form: VerifyForm = VerifyFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Test an application with a dead-letter topic: as verify app, with inputs among them that it cannot handle.

    Each of those must reach the dead-letter topic exactly once, and nothing else may. The exit codes are those of
    verify app.
    """
    from dataclasses import replace

    invocation = invocation_of(context)
    _check_template("--poison", poison)
    plan = replace(
        _plan(invocation, input_topic, output_topic, group, count, rate, keys, abort_share, template, seed, settle_ms),
        dead_letter_topic=dead_letters,
        poison_template=poison,
        poison_share=poison_share,
    )
    if dead_letters in (input_topic, output_topic):
        raise UsageError("The dead-letter topic is one of the others.", "", "Name a topic of its own.")
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    _test(plan, mapping, not unordered, connection, invocation, _Consent(yes, confirm), form, output_file)


class _Consent:
    def __init__(self, yes: bool, confirm: str | None) -> None:
        self.yes = yes
        self.confirm = confirm

    def is_given(self, plan: AppPlan, resolved: ResolvedClient, words: Sequence[str]) -> bool:
        """Show the plan, and return whether to go on."""
        for line in words:
            note(line)
        if resolved.protected and self.confirm != plan.input_topic:
            raise UsageError(
                f"Profile {resolved.profile} is protected: --yes alone is not enough.",
                "It was marked so that nobody changes it by habit.",
                f"Add: --confirm {plan.input_topic}",
            )
        if self.yes:
            return True
        if not (sys.stdin.isatty() and sys.stderr.isatty()) or os.environ.get("CI"):
            note("nothing was written; to do it, add: --yes")
            return False
        sys.stderr.write(f"\nType {plan.input_topic} to write them, or press Enter to leave it: ")
        sys.stderr.flush()
        return sys.stdin.readline().strip() == plan.input_topic


def _plan(
    invocation: Invocation,
    input_topic: str,
    output_topic: str,
    groups: list[str] | None,
    count: int,
    rate: float,
    keys: int,
    abort_share: float,
    template: str,
    seed: int | None,
    settle_ms: int,
) -> AppPlan:
    from eosctl.lab.verify.app import AppPlan

    _check_template("--template", template)
    if input_topic == output_topic:
        raise UsageError("Input and output are the same topic.", "Nobody could tell them apart.", "Name two topics.")
    return AppPlan(
        run=str(invocation.now_ms()),
        seed=seed if seed is not None else invocation.now_ms() % 1_000_000,
        input_topic=input_topic,
        output_topic=output_topic,
        groups=tuple(groups or ()),
        input_count=count,
        rate_per_s=rate,
        key_count=keys,
        abort_share=abort_share,
        template=template,
        settle_ms=settle_ms,
    )


def _check_template(option: str, template: str) -> None:
    if "{tag}" not in template:
        raise UsageError(
            f"{option} has no {{tag}}.",
            "Outputs are recognised by the mark that stands there.",
            f'For example: {option} \'{{"id": "{{tag}}"}}\'',
        )


def _words(plan: AppPlan) -> list[str]:
    from eosctl.lab.verify.tags import fill_template

    how = f"{plan.rate_per_s:g} a second, {plan.key_count:,} keys, {plan.abort_share:.0%} in aborted transactions"
    words = [
        f"plan: write {plan.input_count:,} inputs to {plan.input_topic} as {plan.transactional_id} ({how})",
        f"      such as: {fill_template(plan.template, plan.run, _EXAMPLE_NUMBER, 3)}",
    ]
    if plan.dead_letter_topic is not None:
        example = fill_template(plan.poison_template, plan.run, _EXAMPLE_NUMBER, 3)
        words.append(f"      and {plan.poison_share:.0%} poison: {example}")
    words.append(f"      read {' and '.join(plan.outputs)}; nothing else is written, and nothing is removed")
    return words


def _test(
    plan: AppPlan,
    mapping: str,
    ordered: bool,
    connection: Connection,
    invocation: Invocation,
    consent: _Consent,
    output: VerifyFormat,
    output_file: Path | None,
) -> None:
    import asyncio
    import random
    import time
    from contextlib import AbstractAsyncContextManager

    from eosctl.client.client import connect
    from eosctl.lab.history.feed import FedRecord, Feed
    from eosctl.lab.verify.app import exercise
    from eosctl.lab.verify.app_report import judge_app
    from eosctl.lab.verify.expression import compile_mapping
    from eosctl.render.progress import show_progress
    from eosctl.text import time_text

    expected_of = compile_mapping(mapping)
    resolved = resolve_connection(connection)
    if not consent.is_given(plan, resolved, _words(plan)):
        return
    chance = random.Random(plan.seed)
    began, began_at_ms = time.monotonic(), invocation.now_ms()

    def open_client() -> AbstractAsyncContextManager[Client]:
        return connect(resolved.config, chance=random.Random(chance.getrandbits(64)))

    def expected(fed: FedRecord) -> int:
        return expected_of(fed.number, fed.key)

    async def run() -> tuple[str, Feed]:
        async with open_client() as client:
            cluster_id = client.cluster.cluster_id
        with show_progress() as progress:
            feed = await exercise(
                plan,
                open_client,
                expected,
                now_ms=invocation.now_ms,
                elapsed_ms=lambda: int((time.monotonic() - began) * 1_000),
                progress=progress,
            )
        return cluster_id, feed

    cluster_id, feed = asyncio.run(run())
    report = judge_app(feed, expected, ordered=ordered, has_dead_letters=plan.dead_letter_topic is not None)
    item = app_item(plan, report, cluster_id, time_text(began_at_ms))
    text = render_app(item, output, invocation.now_ms(), invocation.style())
    write_result(text, output_file)
    if exit_code(report.verdict.value):
        raise typer.Exit(exit_code(report.verdict.value))
