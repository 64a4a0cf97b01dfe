"""Runbooks on real Kafka have the same ends and make the same changes."""

from __future__ import annotations

import asyncio
import inspect
import random
import re
from pathlib import Path

import msgspec
import pytest

from eosctl.client import connect
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.lab.rehearsals.clusters import HERE, RehearsalCluster, RehearsalClusters
from eosctl.lab.rehearsals.rehearsal import RehearsalScenario, StepWords, rehearsals
from eosctl.lab.rehearsals.rehearse import rehearse_at
from eosctl.lab.rehearsals.steps.registry import STEPS
from eosctl.model.client_config import ClientConfig
from eosctl.runbooks.load import find_runbook
from eosctl.services.callbacks import system_now_ms
from eosctl.settings.clusters.endpoints import parse_endpoints
from tests.apache.conftest import FULL_DISK, VerificationOff, running
from tests.lab.scenarios.stage.hanging import run_hanging
from tests.lab.scenarios.stage.zombie import run_zombie
from tests.runbooks.conftest import BLOCKED, MANUAL, NO_ACTION, VERIFIED, item_of, play, run
from tests.runbooks.test_groups import commit, open_transaction

pytestmark = pytest.mark.usefixtures("own_home")

SCENARIOS = (
    ("consumer-stuck", "an open transaction blocks the group and is ended by its coordinator"),
    ("offsets-out-of-range", "retention deleted the position, the application runs, and then it is moved"),
    ("unstable-offsets", "the transaction is ended by its coordinator"),
    ("poison-message", "a record poisons the group, goes to the dead letters, and is read back"),
    ("transactional-id-migration", "ids are renamed, and one old instance was forgotten"),
    ("scale-application", "it is scaled out"),
    ("disable-eos", "another application's transaction holds the group back"),
    ("state-store-restore", "the changelog was deleted by retention, and an open transaction hides its end"),
    ("duplicates-downstream", "a writer has no transactions"),
    ("changelog-growth", "it is not compacted, and then an open transaction keeps it"),
)
# In these something is waited for in vain, until people help.
IMPATIENT = (
    "a record poisons the group, goes to the dead letters, and is read back",
    "ids are renamed, and one old instance was forgotten",
    "it is scaled out",
)
NAMES = ("app", "mover", "shop", "orders", "drain", "old", "new", "other", "x")


def own_names(scenario: RehearsalScenario, number: int) -> RehearsalScenario:
    """Use unique names in a rehearsal, since clusters are shared, and timeouts for JVMs."""
    text = msgspec.json.encode(scenario).decode()
    for name in NAMES:
        text = re.sub(rf':"{name}(?=["-])', f':"{name}{number}', text)
    renamed = msgspec.json.decode(text, type=RehearsalScenario)
    people = tuple(
        msgspec.structs.replace(turn, does=tuple(_on_topic(step, number) for step in turn.does))
        for turn in renamed.people
    )
    given = tuple(_on_topic(step, number) for step in renamed.given)
    patience = "15s" if scenario.name in IMPATIENT else "5m"
    leaves = (*renamed.leaves, FULL_DISK)
    return msgspec.structs.replace(renamed, given=given, people=people, patience=patience, leaves=leaves)


def _on_topic(step: StepWords, number: int) -> StepWords:
    """Return a step with an explicit topic, and a transaction timeout for busy machines."""
    if step["do"] == "begin":
        step = {"timeout_ms": 900_000, **step}
    topic = inspect.signature(STEPS[str(step["do"])]).parameters.get("topic")
    return {"topic": f"{topic.default}{number}", **step} if topic is not None and topic.default else step


def test_rehearsals_end_as_expected(tmp_path: Path) -> None:
    """Run the scenarios that clients alone can cause, in real time.

    They share a broker, which no other test uses: what others leave behind would keep the cluster from being well.
    """

    async def play_all(bootstrap: str) -> dict[str, str]:
        config = ClientConfig(parse_endpoints(bootstrap, "test"))
        failures: dict[str, str] = {}
        for number, (name, title) in enumerate(SCENARIOS):
            (scenario,) = [one for one in rehearsals()[name].scenarios if one.name == title]
            folder = tmp_path / str(number)
            folder.mkdir()
            async with connect(config) as client:
                cluster = RehearsalCluster(config, system_now_ms, None, client, random.Random(number))
                try:
                    clusters = RehearsalClusters({HERE: cluster})
                    done = await rehearse_at(clusters, find_runbook(name).book, own_names(scenario, number), folder)
                finally:
                    for task in cluster.tasks:
                        task.cancel()
                    await asyncio.gather(*cluster.tasks, return_exceptions=True)
            if done.failure:
                failures[f"{name}: {title}"] = done.failure
        return failures

    with running("4.3.1", tmp_path / "kafka") as engine:
        failures = asyncio.run(play_all(engine.bootstrap))
    assert not failures, "\n".join(f"{scenario}: {why}" for scenario, why in failures.items())


def test_a_hanging_transaction_is_ended(apache: ApacheNodes, partition_verification_off: VerificationOff) -> None:
    name = f"runbook-{apache.name.replace(' ', '-')}"
    with partition_verification_off(apache):
        report = play(apache.bootstrap, run_hanging, topic=name, transactional_id=name, patience_ms=10_000)
    aim = ("-i", f"topic={report.partition.topic}", "-i", f"partition={report.partition.partition}")
    unasked = run(apache.bootstrap, "hanging-transaction", *aim, "--yes")
    assert unasked.code == BLOCKED, unasked.err
    done = run(apache.bootstrap, "hanging-transaction", *aim, "--yes", "--confirm", str(report.partition))
    assert (done.code, item_of(done)["acted"]) == (VERIFIED, True), done.err
    assert run(apache.bootstrap, "hanging-transaction", *aim).code == NO_ACTION


def test_a_broker_goes_and_comes_back_and_the_feature_is_raised(tmp_path: Path) -> None:
    with running("4.3.1", tmp_path / "kafka", node_count=3, transaction_version=1) as kafka:
        play(kafka.bootstrap, run_zombie)
        asyncio.run(kafka.kill(2))
        lost = run(kafka.bootstrap, "min-isr-lost", "--yes")
        assert (lost.code, item_of(lost)["step"]) == (MANUAL, "bring_back"), lost.err
        refused = run(kafka.bootstrap, "transaction-version-upgrade", "--yes")
        assert (refused.code, item_of(refused)["step"]) == (BLOCKED, "all_up"), refused.err
        asyncio.run(kafka.restart(2))
        back = run(kafka.bootstrap, "min-isr-lost", "--yes", "--resume", item_of(lost)["run"])
        assert (back.code, item_of(back)["outcome"]) == (VERIFIED, "verified"), back.err
        raised = run(kafka.bootstrap, "transaction-version-upgrade", "--yes", "--confirm", "transaction.version=2")
        assert (raised.code, item_of(raised)["acted"]) == (VERIFIED, True), raised.err

        async def held() -> None:
            async with open_transaction(kafka.bootstrap):
                await asyncio.to_thread(unstable)
            await commit(kafka.bootstrap, "app", 99)
            await asyncio.to_thread(out_of_range)

        def unstable() -> None:
            group = ("-i", "group=app", "--yes", "--confirm", "mover")
            done = run(kafka.bootstrap, "unstable-offsets", *group)
            assert (done.code, item_of(done)["acted"]) == (VERIFIED, True), done.err

        def out_of_range() -> None:
            group = ("-i", "group=app", "--yes", "--confirm", "app")
            done = run(kafka.bootstrap, "offsets-out-of-range", *group)
            assert (done.code, item_of(done)["acted"]) == (VERIFIED, True), done.err
            assert "orders-0: 99 -> 4" in done.err

        asyncio.run(held())
