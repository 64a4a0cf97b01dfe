"""EOS-CFG-153."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

NAMES: Final = (
    *("isolation.level", "enable.idempotence", "transactional.id", "enable.auto.commit", "acks"),
    "processing.guarantee",
)


@check(
    "EOS-CFG-153",
    "Setting of clients on a broker",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.BROKER,),
    reads=NAMES,
    references=("org.apache.kafka.common.config.ConfigDef",),
)
def client_setting_on_broker(case: Case) -> Iterator[Problem]:
    """Find settings of producers, consumers, and Streams in the configuration of a broker.

    What it checks:
        Six settings that decide on exactly-once, and that brokers do not have, in the file or the environment of a
        broker.

    Why it matters for exactly-once:
        A broker ignores what it does not know. The application that was to have the setting runs with its default.

    Example:
        KAFKA_ISOLATION_LEVEL=read_committed in the environment of a broker container.

    Fix:
        Write the setting in the configuration of the application.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        for name in NAMES:
            value = broker.value(name)
            if value.is_given and value.resolved:
                yield problem(
                    broker,
                    (value,),
                    f"{value.key} is a setting of clients; brokers do not read it.",
                    impact="It has no effect: the application runs with its default.",
                    remedy=f"Remove {value.key} here, and write {name} in the configuration of the application.",
                )
