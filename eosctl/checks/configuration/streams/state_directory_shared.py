"""EOS-CFG-048."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role, Value
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence


@check(
    "EOS-CFG-048",
    "Two instances share one state directory",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.STREAMS,),
    reads=(
        "state.dir",
        "application.id",
    ),
    references=("KIP-98",),
)
def state_directory_shared(case: Case) -> Iterator[Problem]:
    """Find instances of one Streams application that name the same state directory.

    What it checks:
        Equal state.dir and application.id in two configurations that are given together and differ in their client.id
        or stand in one file. Whether they run on one host is not to be seen in files.

    Why it matters for exactly-once:
        State lies in state.dir/application.id. A second process there cannot take the lock and does not start; before
        2.6.2 and 2.7.1 it started and corrupted stores and checkpoints, and exactly-once with them.

    Example:
        Two services of one Compose file with the same volume and the same settings.

    Fix:
        Give each instance on a host a directory of its own.

    Verify:
        eosctl config lint reports it no longer.
    """
    seen: dict[tuple[str, str], tuple[Component, Value]] = {}
    for streams in case.deployment.of(Role.STREAMS):
        folder, name = streams.value("state.dir"), streams.value("application.id")
        if not folder.is_given or not folder.word or not name.word:
            continue
        first, other = seen.setdefault((name.word, folder.word.rstrip("/")), (streams, folder))
        apart = first.place.file == streams.place.file or first.word("client.id") != streams.word("client.id")
        if first is not streams and apart and folder.place != other.place:
            yield problem(
                streams,
                (folder, other),
                f"state.dir is {folder.word} here and at {other.place}, for the same application {name.word}.",
                confidence=Confidence.POSSIBLE,
                impact="On one host the second instance does not get the lock of the directory.",
                remedy="Give each instance a state directory of its own.",
            )
