"""EOS-CFG-156."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role, Value
from eosctl.model.severity import Severity


def _is_exactly_once(sink: Component) -> bool:
    words = ((sink.word(name) or "").lower().replace("_", "-") for name in ("sink.delivery-guarantee", "sink.semantic"))
    return "exactly-once" in words


@check(
    "EOS-CFG-156",
    "Two Flink sinks share a transactional id prefix",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.FLINK,),
    reads=("sink.transactional-id-prefix",),
    references=("KafkaSinkBuilder.setTransactionalIdPrefix",),
)
def flink_sinks_share_prefix(case: Case) -> Iterator[Problem]:
    """Find exactly-once Flink sinks that make the same transactional ids.

    What it checks:
        Equal sink.transactional-id-prefix of two exactly-once sinks that are given together: in two jobs, and in two
        tables of one job.

    Why it matters for exactly-once:
        A sink makes its ids of the prefix, the number of its subtask, and the checkpoint. Sinks with the same prefix
        fence each other, and abort each other at every restart.

    Example:
        A job that was copied with its prefix.

    Fix:
        Give each sink a prefix of its own that stays the same over restarts.

    Verify:
        eosctl config lint reports it no longer.
    """
    first: dict[str, tuple[Component, Value]] = {}
    for sink in case.deployment.of(Role.FLINK):
        prefix = sink.value("sink.transactional-id-prefix")
        if not prefix.is_given or not prefix.word or not _is_exactly_once(sink):
            continue
        _, other = first.setdefault(prefix.word, (sink, prefix))
        if other is not prefix and other.place != prefix.place:
            yield problem(
                sink,
                (prefix, other),
                f"{prefix.key}={prefix.word} is also used at {other.place}.",
                impact="The sinks fence each other, and a restart of one aborts transactions of the other.",
                remedy="Give each sink a prefix of its own.",
            )
