"""Periodic tasks of the active controller (Kafka's `PeriodicTaskControlManager`, `QuorumController`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.controller.delegation_tokens import remove_expired_tokens
from eosctl.sandbox.controller.elections import elect, elect_leader, serving
from eosctl.sandbox.metadata.image import NO_LEADER
from eosctl.sandbox.security.delegation_tokens import secret_key
from eosctl.sandbox.timing_wheel import Pace
from eosctl.wire.messages.internal.metadata.no_op_record import NoOpRecord

MAX_ELECTIONS: Final = 1000  # Maximum number of elections per batch (`QuorumController.MAX_ELECTIONS_PER_IMBALANCE`).
MS_PER_SECOND: Final = 1000


def start_periodic_tasks(controller: Controller) -> None:
    """Start the periodic tasks enabled by the settings; an inactive controller skips its turns.

    - `leader.imbalance.check.interval.seconds`: elect preferred leaders (`auto.leader.rebalance.enable`).
    - `unclean.leader.election.interval.ms`: elect leaders uncleanly where the topic allows it, including topics that
      allow it only since their partitions became leaderless.
    - `delegation.token.expiry.check.interval.ms`: remove delegation tokens that have expired.
    - `metadata.max.idle.interval.ms`: append a NoOpRecord, so that the log advances; 0 disables it (KIP-835).
    """
    config = controller.config
    if config.get_bool("auto.leader.rebalance.enable"):
        seconds = config.get_int("leader.imbalance.check.interval.seconds")
        _every(controller, seconds * MS_PER_SECOND, elect_preferred_leaders)
    _every(controller, config.get_int("unclean.leader.election.interval.ms"), elect_unclean_leaders)
    if secret_key(config, is_3_9=controller.emulation.is_3_9):
        _every(controller, config.get_int("delegation.token.expiry.check.interval.ms"), remove_expired_tokens)
    idle_ms = config.get_int("metadata.max.idle.interval.ms")
    if idle_ms:
        _every(controller, idle_ms, _write_no_op, Pace.KEEP_ALIVE)


def _every(
    controller: Controller, interval_ms: int, task: Callable[[Controller], None], pace: Pace = Pace.SCAN
) -> None:
    def turn() -> None:
        controller.runtime.call_later(interval_ms, turn, pace)
        if controller.is_active:
            controller.handle(partial(task, controller))

    controller.runtime.call_later(interval_ms, turn, pace)


def _write_no_op(controller: Controller) -> None:
    controller.write([NoOpRecord()])


def elect_preferred_leaders(controller: Controller) -> None:
    """Elect the first replica of each partition if it is in sync and another one leads."""
    _elect(controller, lambda state: state.leader not in (NO_LEADER, state.replicas[0]), prefer_first=True)


def elect_unclean_leaders(controller: Controller) -> None:
    """Elect any live replica of leaderless partitions if the topic allows unclean election."""
    _elect(controller, lambda state: state.leader == NO_LEADER, allow_unclean=controller.unclean_allowed)


def _elect(
    controller: Controller,
    is_due: Callable[[Any], bool],
    *,
    allow_unclean: Callable[[str], bool] | None = None,
    prefer_first: bool = False,
) -> None:
    records: list[Any] = []
    choose = partial(elect_leader, allow_unclean=allow_unclean is not None, prefer_first=prefer_first)
    for topic in controller.image.topics.values():
        if allow_unclean is not None and not allow_unclean(topic.name):
            continue
        for index, state in topic.partitions.items():
            if len(records) < MAX_ELECTIONS and is_due(state):
                election = choose(state, serving(controller.image, state, controller.is_broker_active))
                record = elect(topic, index, state, election)
                if record is not None:
                    records.append(record)
    if records:
        controller.write(records)
