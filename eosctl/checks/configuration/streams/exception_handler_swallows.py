"""EOS-CFG-091."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.clients import exactly_once_streams
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

HANDLERS: Final = (
    "default.deserialization.exception.handler",
    "deserialization.exception.handler",
    "default.production.exception.handler",
    "production.exception.handler",
    "processing.exception.handler",
)


@check(
    "EOS-CFG-091",
    "Exception handler drops records under exactly-once",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.STREAMS,),
    reads=(
        "default.deserialization.exception.handler",
        "deserialization.exception.handler",
        "default.production.exception.handler",
        "production.exception.handler",
        "processing.exception.handler",
    ),
    references=("KIP-161", "KIP-1033"),
)
def exception_handler_swallows(case: Case) -> Iterator[Problem]:
    """Find exactly-once applications that continue after an error.

    What it checks:
        Handlers whose class name says that they log and continue.

    Why it matters for exactly-once:
        The record is skipped and its offset is committed with the transaction: it is permanently lost, and no
        downstream application can detect this.

    Example:
        deserialization.exception.handler=org.apache.kafka.streams.errors.LogAndContinueExceptionHandler.

    Fix:
        Fail, or write the record to a dead letter queue within the transaction
        (errors.dead.letter.queue.topic.name, Kafka 4.2 and later).

    Verify:
        eosctl config lint reports it no longer.
    """
    for streams in exactly_once_streams(case.deployment):
        if streams.has("errors.dead.letter.queue.topic.name"):
            continue
        for name in HANDLERS:
            handler = streams.value(name)
            if handler.is_given and handler.word and "logandcontinue" in handler.word.lower():
                yield problem(
                    streams,
                    (handler,),
                    f"{name} skips records that fail.",
                    impact="The skipped record is lost: its offset is committed with the transaction.",
                    remedy="Use a handler that fails, or one that writes to a dead letter queue.",
                )
