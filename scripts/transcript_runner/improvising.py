"""Generate random conversations of every kind, and run them on a broker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.init_producer_id import InitProducerIdRequest
from scripts.transcript_runner.conversation import BROKER, Outcome
from scripts.transcript_runner.improvised import Improviser
from scripts.transcript_runner.improvised_consumers import ConsumerGroups
from scripts.transcript_runner.improvised_groups import ClassicGroups
from scripts.transcript_runner.improvised_transactions import Transactions
from scripts.transcript_runner.runner import open_cluster, play_on
from scripts.transcript_runner.scenario import DEFAULT_PROFILE, Scenario, Target

KINDS: Final[tuple[type[Improviser], ...]] = (Transactions, ClassicGroups, ConsumerGroups)
#: On a busy machine, a marker may be in transit at the next request, so differences are run again.
TIMES: Final = 4
AT_ONCE: Final = 4


def kinds_of(target: Target) -> tuple[type[Improviser], ...]:
    """Return the kinds for a target: 3.9 has the consumer protocol, but disabled."""
    return tuple(kind for kind in KINDS if target.release != "3.9" or kind is not ConsumerGroups)


def improvise(kind: type[Improviser], target: Target, seeds: Iterable[int], data_dir: Path) -> Iterator[Scenario]:
    """Generate a conversation per seed, on an in-memory cluster like the recorded ones."""
    harness = open_cluster(target, DEFAULT_PROFILE, data_dir)
    # Producer id 0 would look like the placeholder 0.
    harness.request(BROKER, ApiKey.INIT_PRODUCER_ID, 1, InitProducerIdRequest(None, 1000))
    for seed in seeds:
        yield kind(harness, seed, target).converse()
    harness.close()


def differences_on(
    bootstrap: str, scenarios: Sequence[Scenario], target: Target, progress: Callable[[Outcome], None] = lambda _: None
) -> list[Outcome]:
    """Run conversations on a broker; return those that differ each time."""
    left = list(scenarios)
    outcomes: list[Outcome] = []
    for _ in range(TIMES):
        outcomes = []
        for outcome in play_on(bootstrap, left, target, AT_ONCE):
            progress(outcome)
            outcomes.append(outcome)
        outcomes = [outcome for outcome in outcomes if outcome.differences]
        left = [outcome.scenario for outcome in outcomes]
        if not left:
            break
    return outcomes
