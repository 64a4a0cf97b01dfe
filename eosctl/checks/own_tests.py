"""Findings about the transactional ids of eosctl's own tests, which fence, abort, and time out on purpose."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from eosctl.checks.declaration import Problem
from eosctl.model.severity import Severity
from eosctl.model.transaction import CALIBRATE_PREFIX, VERIFY_PREFIX

_CAUSE: Final = (
    "The verifications of eosctl, and eosctl capacity calibrate, fence producers and abort transactions on purpose."
)
_REMEDY: Final = "Nothing is to be done: the ids of a test expire on their own."


def as_information_of_tests(problem: Problem) -> Problem:
    """Return a problem of an id of eosctl's own tests as information; any other as it is.

    Only for what a test provokes and what ends with it: a hanging transaction blocks readers in any case.

    Args:
        problem: A problem whose resource is a transactional id, or the pattern of several.
    """
    if not problem.resource.name.startswith((f"{VERIFY_PREFIX}-", f"{CALIBRATE_PREFIX}-")):
        return problem
    return replace(
        problem,
        severity=Severity.INFO,
        cause=f"{_CAUSE} {problem.cause}".rstrip(),
        remedy=(_REMEDY,),
    )
