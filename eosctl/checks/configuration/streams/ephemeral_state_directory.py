"""EOS-CFG-047."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import concerns_tests_alone, exactly_once_streams
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-047",
    "State of an exactly-once application lies in a temporary directory",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.STREAMS,),
    reads=("state.dir",),
)
def ephemeral_state_directory(case: Case) -> Iterator[Problem]:
    """Find exactly-once Streams applications that write down a temporary state directory.

    What it checks:
        state.dir below /tmp, /var/tmp or /dev/shm.

    Why it matters for exactly-once:
        The process id that makes the transactional ids lives there. Lost with the directory, every start has new
        ids, cannot fence the last run, and restores all state from the changelogs.

    Example:
        state.dir=/tmp/kafka-streams in a container image.

    Fix:
        Put state.dir on a volume that outlives the process.

    Verify:
        eosctl config lint reports it no longer.
    """
    for streams in exactly_once_streams(case.deployment):
        folder = streams.value("state.dir")
        if folder.is_given and folder.word and folder.word.startswith(("/tmp", "/var/tmp", "/dev/shm")):
            yield problem(
                streams,
                (folder,),
                f"state.dir is {folder.word}.",
                severity=Severity.INFO if concerns_tests_alone(case.deployment, streams, folder) else None,
                impact="After a restart the ids are new, old transactions time out, and all state is restored.",
                remedy="Put state.dir on a persistent volume.",
            )
