"""Steps of an application of Kafka Streams: a word count with a state store, which is killed and starts again.

It is the model of `eosctl.lab.workloads.streams` with one task, a transaction for each record of its input, and a state
directory that is removed at the end of the scenario.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from eosctl.client.topics import ensure_topic
from eosctl.errors import UsageError
from eosctl.lab.scenarios.steps.play import Play
from eosctl.lab.workloads.streams.instance import Instance, StreamsPlan
from eosctl.lab.workloads.streams.rules import STREAMS_4_3, TRANSACTIONAL_STORES
from eosctl.lab.workloads.streams.task import Sizes, Step, StoreView

_CHANGELOG: Final = {"cleanup.policy": "compact"}  # As Streams creates it.


class _Killed(Exception):  # noqa: N818
    """The process ends here as by kill -9."""


class _Process:
    """Follows a process, and kills it before a commit: the transaction stays open.

    Attributes:
        restored: The store after its restoration; None before.
    """

    def __init__(self, dies_after: int | None) -> None:
        self.restored: StoreView | None = None
        self._dies_after = dies_after
        self._commits = 0

    def reach(self, step: Step) -> None:
        """Count the commits."""
        if step is Step.COMMIT:
            if self._commits == self._dies_after:
                raise _Killed
            self._commits += 1

    def observe(self, view: StoreView) -> None:
        """Keep the state after the restoration."""
        if view.moment == "restored":
            self.restored = view


async def application(
    play: Play,
    *,
    application: str,
    source: str,
    to: str,
    transactional_stores: bool = False,
    writes_out_after: int = 1_000,
) -> None:
    """Create the topics of an application; its store reaches the disk after so many changes, as by RocksDB."""
    rules = TRANSACTIONAL_STORES if transactional_stores else STREAMS_4_3
    directory = Path(play.clients.enter_context(TemporaryDirectory(prefix="eosctl-streams-")))
    plan = StreamsPlan(application, source, to, (0,), directory, rules=rules, sizes=Sizes(writes_out_after, batch=1))
    await ensure_topic(play.client, to, partition_count=1)
    await ensure_topic(play.client, plan.changelog_topic, partition_count=1, settings=_CHANGELOG)
    play.applications[application] = plan


async def work(play: Play, *, application: str, dies_after: int | None = None) -> None:
    """Count the words of what is in the input, and stop; or be killed before the commit that follows so many others.

    Raises:
        UsageError: No step has created the application, or it commits less often.
    """
    if application not in play.applications:
        next_step = "Fix the scenario."
        raise UsageError(f"There is no application {application!r}.", "A step 'application' creates one.", next_step)
    process = _Process(dies_after)
    client = await play.open_client(application)
    instance = Instance(client, play.applications[application], now_ms=play.engine.now_ms, life=process)
    try:
        await instance.run(lambda: True)
    except _Killed:
        pass
    else:
        if dies_after is not None:
            what = f"{application} was not killed: it commits at most {dies_after} times."
            raise UsageError(what, "", "Write more to its input, or reduce 'dies_after'.")
    if process.restored is not None:
        play.restored[application] = process.restored
