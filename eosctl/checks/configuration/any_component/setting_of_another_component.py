"""EOS-CFG-190."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role, Value
from eosctl.model.severity import Severity

_SUPPORT: Final = "exactly.once.source.support"
_OF_CONNECTOR: Final = "exactly.once.support"
_CONNECT: Final = (Role.CONNECT_WORKER, Role.SOURCE_CONNECTOR, Role.SINK_CONNECTOR)
_OF_BROKERS: Final = (
    *("transaction.max.timeout.ms", "transactional.id.expiration.ms", "producer.id.expiration.ms"),
    *("transaction.state.log.min.isr", "transaction.state.log.replication.factor", "offsets.topic.replication.factor"),
    *("transaction.partition.verification.enable", "unclean.leader.election.enable"),
)


class _Right(NamedTuple):
    """Which component reads a setting, and what to do with it where another one has it."""

    owner: str
    remedy: str


_TO_BROKERS: Final = _Right("brokers", "Write {name} in the configuration of the brokers.")
_TO_STREAMS: Final = _Right("Kafka Streams", "Write {name} in the configuration of the Streams application.")
_TO_WORKER: Final = _Right("Connect's workers", f"Write {_SUPPORT} in the configuration of every worker.")
_TO_SOURCE: Final = _Right("source connectors", "Write {name} in the configuration of the source connector.")
_INSTEAD: Final = _Right("source connectors", f"Write {_SUPPORT}=enabled for the workers.")
_WRONG: Final[dict[Role, dict[str, _Right]]] = {
    Role.BROKER: {
        **dict.fromkeys((_SUPPORT, "task.shutdown.graceful.timeout.ms"), _TO_WORKER),
        **dict.fromkeys((_OF_CONNECTOR, "transaction.boundary", "transaction.boundary.interval.ms"), _TO_SOURCE),
        **dict.fromkeys(("commit.interval.ms", "num.standby.replicas"), _TO_STREAMS),
    },
    **{role: dict.fromkeys((*_OF_BROKERS, "min.insync.replicas"), _TO_BROKERS) for role in _CONNECT},
    **{role: dict.fromkeys(_OF_BROKERS, _TO_BROKERS) for role in (Role.PRODUCER, Role.CONSUMER)},
    Role.STREAMS: {
        **dict.fromkeys((name for name in _OF_BROKERS if not name.startswith("unclean")), _TO_BROKERS),
        **dict.fromkeys(
            (_SUPPORT, _OF_CONNECTOR), _Right("Kafka Connect", "Set processing.guarantee=exactly_once_v2.")
        ),
    },
}
for _role in _CONNECT:
    _WRONG[_role]["processing.guarantee"] = _TO_STREAMS
_WRONG[Role.CONNECT_WORKER] |= {
    _OF_CONNECTOR: _INSTEAD,
    **dict.fromkeys(("transaction.boundary", "transaction.boundary.interval.ms"), _TO_SOURCE),
}
_WRONG[Role.SOURCE_CONNECTOR] |= {_SUPPORT: _TO_WORKER}
_WRONG[Role.SINK_CONNECTOR] |= {
    **dict.fromkeys(
        (_OF_CONNECTOR, _SUPPORT),
        _Right(
            "source connectors and their workers", "Remove {name}; a sink must write so that a repetition is harmless."
        ),
    ),
    **dict.fromkeys(("transaction.boundary", "transaction.boundary.interval.ms"), _TO_SOURCE),
}


@check(
    "EOS-CFG-190",
    "Setting of another component",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=tuple(_WRONG),
    reads=(),
    references=("KIP-618", "org.apache.kafka.common.config.ConfigDef"),
)
def setting_of_another_component(case: Case) -> Iterator[Problem]:
    """Find settings of exactly-once that stand in the configuration of a component that does not have them.

    What it checks:
        exactly.once.support and transaction.boundary of source connectors on a worker, exactly.once.source.support of
        workers on a connector, both on a sink connector, settings of Streams on workers and brokers, and settings of
        brokers on clients and Connect. EOS-CFG-153 is about settings of clients on brokers, EOS-CFG-168 about those
        that a framework does not hand on. It is an error for a worker that is to have exactly-once.

    Why it matters for exactly-once:
        A component ignores what it does not know: the one that was to have the setting runs with its default, such as
        exactly.once.source.support=disabled.

    Example:
        exactly.once.support=enabled in connect-distributed.properties.

    Fix:
        Write the setting where it is read; the finding names the place.

    Verify:
        eosctl config lint reports it no longer.
    """
    seen: set[object] = set()
    for component in case.deployment.of(*_WRONG):
        table = case.deployment.tables[component.role.value].parameters
        for name, right in _WRONG[component.role].items():
            value = component.given.get(name)
            if value is None or name in table or not _is_spelled(component, value) or value.place in seen:
                continue
            seen.add(value.place)
            is_worker = right is _INSTEAD
            yield problem(
                component,
                (value,),
                f"{value.key} is a setting of {right.owner}; {_named(component)} not read it.",
                severity=Severity.ERROR if is_worker else None,
                impact="Source tasks write without transactions." if is_worker else "It has no effect here.",
                remedy=right.remedy.format(name=name),
            )


def _is_spelled(component: Component, value: Value) -> bool:
    """Return whether a client's program cannot have read the key under a name of its own."""
    is_client = component.role in (Role.PRODUCER, Role.CONSUMER, Role.STREAMS)
    return not is_client or (value.key == value.name and component.inside is None)


def _named(component: Component) -> str:
    names = {Role.BROKER: "brokers do", Role.CONNECT_WORKER: "workers do", Role.STREAMS: "Kafka Streams does"}
    return names.get(component.role, f"{component.role.value.replace('-', ' ')}s do")
