"""Test an application: numbered, checksummed inputs, and what it makes of them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Final, NamedTuple

from eosctl.actions.consent import Consent, require_confirmation
from eosctl.client.client import Client, connect
from eosctl.errors import UsageError
from eosctl.findings.judged import Judged
from eosctl.lab.history.feed import FedRecord, Feed
from eosctl.lab.verify.app import AppPlan, exercise
from eosctl.lab.verify.app_report import AppReport, judge_app
from eosctl.lab.verify.expression import compile_mapping
from eosctl.lab.verify.tags import fill_template
from eosctl.model.application_work import AppWork
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from eosctl.services.gate import judge_findings, read_gate
from eosctl.services.gate_options import GateOptions
from eosctl.services.protection import protecting_profile
from eosctl.services.stopwatch import SYSTEM, Stopwatch
from eosctl.services.verification_findings import diagnose_application
from eosctl.settings.clusters.client_resolution import ResolvedClient
from eosctl.text import count_text

_EXAMPLE_NUMBER: Final = 17
_SEEDS: Final = 1_000_000


class AppRequest(AppWork, frozen=True, kw_only=True):
    """A test of an application: its work, and what is demanded of the result.

    Attributes:
        mapping: How many outputs an input has: a number, or an expression over ``number`` and ``key``.
        is_ordered: Whether outputs of a key keep the order of their inputs.
        seed: Repeats the same choices; None draws one from the clock.
        connection: The cluster.
        gate: The demands on the result; a test that decides nothing fails unless ``require_complete`` is off.
    """

    mapping: str = "1"
    is_ordered: bool = True
    seed: int | None = None
    connection: Connection = Connection()
    gate: GateOptions = GateOptions(require_complete=True)


class AppTested(NamedTuple):
    """A test, what it has shown, and what counts of it; ``began_at_ms`` is its begin, in ms since the epoch."""

    plan: AppPlan
    report: AppReport
    cluster_id: str
    began_at_ms: int
    judged: Judged


class Announcement(NamedTuple):
    """What is about to be written.

    Attributes:
        lines: The plan, in words.
        topic: The topic of the inputs.
        protected_profile: The profile of the cluster, if it is protected.
    """

    lines: tuple[str, ...]
    topic: str
    protected_profile: str | None

    def require(self, confirmed: str | None) -> None:
        """Refuse a protected cluster whose topic was not named again.

        Raises:
            UsageError: The profile is protected, and ``confirmed`` is not the topic.
        """
        consent = Consent(self.protected_profile is not None, confirmed == self.topic)
        require_confirmation(consent, self.topic, self.protected_profile)


def verify_application(
    request: AppRequest,
    confirm: Callable[[Announcement], bool],
    callbacks: Callbacks = SILENT,
    stopwatch: Stopwatch = SYSTEM,
) -> AppTested | None:
    """Write inputs for an application that runs, and check its outputs.

    Args:
        request: The test.
        confirm: Returns whether to write the inputs, which remain in the topic.
        callbacks: Called while the test runs.
        stopwatch: Gives the times of observations.

    Returns:
        The test; None if it was not confirmed, and nothing was written.

    Raises:
        UsageError: The plan contradicts itself, or a topic does not exist.
        EosctlError: The cluster cannot be reached.
    """
    files = read_gate(request.gate, has_score=False)
    began_at_ms = callbacks.now_ms()
    plan = _plan(request, began_at_ms)
    _check(plan)
    expected_of = compile_mapping(request.mapping)
    resolved = resolve_connection(request.connection, callbacks.remark)
    if not confirm(Announcement(_words(plan), plan.input_topic, protecting_profile(resolved, "", ()))):
        return None

    def expected(fed: FedRecord) -> int:
        return expected_of(fed.number, fed.key)

    cluster_id, feed = asyncio.run(_exercise(plan, resolved, expected, callbacks, stopwatch))
    report = judge_app(feed, expected, ordered=request.is_ordered, has_dead_letters=plan.dead_letter_topic is not None)
    now_ms = callbacks.now_ms()
    judged = judge_findings(diagnose_application(plan, report, cluster_id, now_ms), files, now_ms)
    return AppTested(plan, report, cluster_id, began_at_ms, judged)


def _plan(request: AppRequest, now_ms: int) -> AppPlan:
    work = {name: getattr(request, name) for name in AppWork.__struct_fields__}
    return AppPlan(run=str(now_ms), seed=now_ms % _SEEDS if request.seed is None else request.seed, **work)


async def _exercise(
    plan: AppPlan,
    resolved: ResolvedClient,
    expected: Callable[[FedRecord], int],
    callbacks: Callbacks,
    stopwatch: Stopwatch,
) -> tuple[str, Feed]:
    chance, began_s = random.Random(plan.seed), stopwatch.now_s()

    def open_client() -> AbstractAsyncContextManager[Client]:
        return connect(resolved.config, chance=random.Random(chance.getrandbits(64)))

    async with open_client() as client:
        cluster_id = client.cluster.cluster_id
    feed = await exercise(
        plan,
        open_client,
        expected,
        now_ms=callbacks.now_ms,
        elapsed_ms=lambda: int((stopwatch.now_s() - began_s) * 1_000),
        progress=callbacks.progress,
    )
    return cluster_id, feed


def _check(plan: AppPlan) -> None:
    _check_template("--template", plan.template)
    if plan.input_topic == plan.output_topic:
        raise UsageError("Input and output are the same topic.", "Their records would be mixed up.", "Name two topics.")
    if plan.dead_letter_topic is None:
        return
    _check_template("--poison", plan.poison_template)
    if plan.dead_letter_topic in (plan.input_topic, plan.output_topic):
        raise UsageError("The dead-letter topic is one of the others.", "", "Name a topic of its own.")


def _check_template(option: str, template: str) -> None:
    if "{tag}" not in template:
        raise UsageError(
            f"{option} has no {{tag}}.",
            "Outputs are recognized by this mark.",
            f'For example: {option} \'{{"id": "{{tag}}"}}\'',
        )


def _words(plan: AppPlan) -> tuple[str, ...]:
    keys = count_text(plan.key_count, "key")
    how = f"{plan.rate_per_s:g} a second, {keys}, {plan.abort_share:.0%} in aborted transactions"
    words = [
        f"plan: write {count_text(plan.input_count, 'input')} to {plan.input_topic} as {plan.transactional_id} ({how})",
        f"      such as: {fill_template(plan.template, plan.run, _EXAMPLE_NUMBER, 3)}",
    ]
    if plan.dead_letter_topic is not None:
        example = fill_template(plan.poison_template, plan.run, _EXAMPLE_NUMBER, 3)
        words.append(f"      and {plan.poison_share:.0%} poison: {example}")
    words.append(f"      read {' and '.join(plan.outputs)}; nothing else is written, and nothing is removed")
    return tuple(words)
