"""EOS-CFG-045."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.clients import concerns_tests_alone
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

RANDOM: Final = re.compile(
    r"\$\{(?:random|quarkus\.uuid)\b|\brandom\w*\(|\buuid\w*\(|\{\{\s*(uuidv4|rand\w*|now)\b|\$RANDOM\b|\$\{?RANDOM\}?|\$\$(?!\w)|\$\(date\b|\$\(uuidgen\)",
    re.IGNORECASE,
)


@check(
    "EOS-CFG-045",
    "Transactional id is different in every run",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.PRODUCER,),
    reads=("transactional.id",),
    references=("KIP-98", "KIP-447"),
)
def random_transactional_id(case: Case) -> Iterator[Problem]:
    """Find transactional ids that are made up at start.

    What it checks:
        transactional.id, and the prefixes of Spring and Flink, that contain a random part: Spring's ${random...}, a
        uuid or random function, a time of day, a process id. In a profile for tests, and under src/test, that is
        information: tests start with brokers of their own.

    Why it matters for exactly-once:
        A new id does not fence the previous run: its open transaction holds readers back until it times out, and
        every id stays in the transaction log for a week.

    Example:
        spring.kafka.producer.transaction-id-prefix: tx-${random.uuid}-

    Fix:
        Use an id that an instance gets back after a restart, e.g. the ordinal of a stateful set.

    Verify:
        eosctl config lint reports it no longer.
    """
    for producer in case.deployment.of(Role.PRODUCER):
        name = producer.value("transactional.id")
        if name.is_given and name.text and RANDOM.search(name.text):
            is_of_tests = concerns_tests_alone(case.deployment, producer, name)
            yield problem(
                producer,
                (name,),
                f"{name.key}={name.text} is different in every run.",
                severity=Severity.INFO if is_of_tests else None,
                impact="The open transaction of a crashed run blocks readers until it times out.",
                remedy="Use an id that is the same after a restart and different between instances.",
            )
