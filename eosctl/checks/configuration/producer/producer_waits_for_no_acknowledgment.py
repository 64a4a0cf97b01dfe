"""EOS-CFG-179."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import demands_idempotence, is_idempotent_by_default, written_once
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-179",
    "Producer waits for no acknowledgment",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.PRODUCER,),
    reads=("acks", "enable.idempotence"),
    references=("acks",),
)
def producer_waits_for_no_acknowledgment(case: Case) -> Iterator[Problem]:
    """Find producers that send records without waiting for an answer.

    What it checks:
        acks=0, also as required_acks of Beats and Telegraf and as request.required.acks of librdkafka, of a producer
        that is not idempotent. EOS-CFG-011 and EOS-CFG-070 report it where it contradicts idempotence.

    Why it matters for exactly-once:
        The producer counts a record as sent when it is in the socket's buffer. A restart of the leader, a refused
        record, or a full disk loses it without an error: that is at most once.

    Example:
        required_acks: 0 in the output of Filebeat.

    Fix:
        Set acks=all. acks=1 loses only what a leader had not replicated before it failed.

    Verify:
        eosctl config lint reports it no longer.
    """
    for producer, acks in written_once(case.deployment, "acks", Role.PRODUCER):
        if acks.word != "0" or demands_idempotence(producer) or is_idempotent_by_default(producer):
            continue
        yield problem(
            producer,
            (acks,),
            f"{acks.key} is 0: no broker confirms a record.",
            impact="Records are lost without an error when a leader changes or refuses them.",
            remedy=f"Set {acks.key} to that of all replicas in sync (all, or -1).",
        )
