"""EOS-TXN-014."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.measured import NEEDS, Series, above, shown
from eosctl.model.severity import Severity
from eosctl.model.verdict import Resource
from eosctl.text import duration_text

COMMIT: Final = Series("kafka_streams_stream_thread_metrics_commit_latency_max", attribute="commit-latency-max")
SLOW_MS: Final = 5_000


@check(
    "EOS-TXN-014",
    "Commits of a Streams thread near the transaction timeout",
    Area.TRANSACTION,
    Severity.WARNING,
    needs=NEEDS,
    tags=("transactions", "streams", "metrics"),
    references=(
        "KIP-447",
        "commit.interval.ms",
        "transaction.timeout.ms",
    ),
    applies=shown(COMMIT),
)
def streams_commits_slow(case: Case) -> Iterator[Problem]:
    """Find stream threads whose longest commit took more than half of the default transaction timeout.

    What it checks:
        commit-latency-max of each stream thread, against 5,000 ms: Streams sets transactions of 10,000 ms under
        exactly-once.

    Why it matters for exactly-once:
        A commit that outlives the timeout is aborted by the coordinator: the thread's tasks are closed dirty
        and start again from their changelogs.

    Example:
        A cache of a gigabyte that is flushed at every commit.

    Fix:
        Give a commit less to do (smaller caches, shorter commit.interval.ms), or raise
        producer.transaction.timeout.ms.

    Verify:
        eosctl doctor --metrics with the program's address: EOS-TXN-014 passes.
    """
    for found in above(case, COMMIT, SLOW_MS):
        thread = found.labels.get("thread_id", "a thread")
        yield Problem(
            resource=Resource("thread", thread),
            message=f"The longest commit of {thread} took {duration_text(round(found.value))}.",
            impact="Beyond producer.transaction.timeout.ms (10 s by default) the coordinator aborts the transaction.",
            evidence=(found.evidence,),
            remedy=("Lower what a commit has to do, or raise producer.transaction.timeout.ms.",),
            verify=(found.verify,),
            incident=thread,
            facts=(("commit_latency_max_ms", round(found.value)),),
        )
