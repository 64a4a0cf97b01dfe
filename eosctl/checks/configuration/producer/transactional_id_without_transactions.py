"""EOS-CFG-181."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Client, Role
from eosctl.model.severity import Severity

_TOOLS: Final = ("Fluent Bit", "Vector")
"""Tools that hand any setting on to librdkafka, and begin no transaction."""


@check(
    "EOS-CFG-181",
    "transactional.id of a tool that begins no transaction",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.PRODUCER,),
    reads=("transactional.id",),
    references=("KIP-98", "rd_kafka_init_transactions"),
)
def transactional_id_without_transactions(case: Case) -> Iterator[Problem]:
    """Find outputs of Fluent Bit and Vector with a transactional.id.

    What it checks:
        rdkafka.transactional.id of Fluent Bit's output, and transactional.id in the librdkafka_options of a sink of
        Vector. An empty value is none.

    Why it matters for exactly-once:
        librdkafka sends records of a transactional producer only within a transaction. These tools never call
        rd_kafka_init_transactions and rd_kafka_begin_transaction, so librdkafka refuses every record with
        "Erroneous state".

    Example:
        rdkafka.transactional.id logs-1 in an output of Fluent Bit, for exactly-once delivery.

    Fix:
        Remove the id. Set enable.idempotence=true, which avoids duplicates of retries; a restart of the tool still
        sends again what it had not confirmed.

    Verify:
        eosctl config lint reports it no longer.
    """
    for producer in case.deployment.of(Role.PRODUCER):
        identity = producer.value("transactional.id")
        is_tool = producer.client is Client.LIBRDKAFKA and producer.recognized_by.startswith(_TOOLS)
        if is_tool and identity.is_given and identity.word:
            tool = next(one for one in _TOOLS if producer.recognized_by.startswith(one))
            yield problem(
                producer,
                (identity,),
                f"{identity.key} is set, and {tool} begins no transaction.",
                impact='librdkafka refuses every record with "Erroneous state": nothing is sent.',
                remedy=f"Remove {identity.key}, and set enable.idempotence=true.",
            )
