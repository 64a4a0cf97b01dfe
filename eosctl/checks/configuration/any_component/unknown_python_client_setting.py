"""EOS-CFG-144."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import PYTHON_CLIENTS, Role
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence


@check(
    "EOS-CFG-144",
    "Setting that the Python client does not have",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.PRODUCER, Role.CONSUMER),
    reads=(),
    tags=("python",),
    references=("kafka.KafkaProducer.DEFAULT_CONFIG", "aiokafka.AIOKafkaProducer"),
)
def unknown_python_client_setting(case: Case) -> Iterator[Problem]:
    """Find settings of Kafka's clients in configurations of kafka-python or aiokafka, which do not have them.

    What it checks:
        Names of settings that Java's producer or consumer has, written as keyword arguments for kafka-python or
        aiokafka, whose newest release takes them neither for producers nor for consumers. Names of one word, which
        may be the application's own, are left out.

    Why it matters for exactly-once:
        Both clients refuse an argument that they do not know. Where the application picks its arguments itself, the
        setting holds nowhere.

    Example:
        delivery_timeout_ms for aiokafka, which tries a batch until its request timeout.

    Fix:
        Remove it, or use confluent-kafka, which has the settings of librdkafka.

    Verify:
        eosctl config lint reports it no longer.
    """
    java = {name for role in (Role.PRODUCER, Role.CONSUMER) for name in case.deployment.tables[role.value].parameters}
    seen: set[object] = set()
    for component in case.deployment.of(Role.PRODUCER, Role.CONSUMER):
        table = case.deployment.table(component)
        if table is None or component.client not in PYTHON_CLIENTS:
            continue
        for name, value in component.given.items():
            if name in table.parameters or name not in java or "." not in name or value.place in seen:
                continue
            seen.add(value.place)
            yield problem(
                component,
                (value,),
                f"{table.software} has no {value.key.rpartition('.')[2]}.",
                confidence=Confidence.LIKELY,
                impact="The client is not created, if the application hands the setting on.",
                remedy="Remove it.",
            )
