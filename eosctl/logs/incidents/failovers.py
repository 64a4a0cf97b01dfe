"""What a crash of a server takes with it: the controller, coordinators of transactions, and their clients."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from eosctl.logs.incidents.quorum import FAILOVER_MS, led_quorum, successor_of
from eosctl.logs.incidents.servers import Outage, first_of_each, names_node
from eosctl.logs.incidents.shortages import SHORTAGE_GAP_MS
from eosctl.logs.incidents.story import LogStory, incident, time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import count_text

_TOPIC: Final = "__transaction_state-"


def find_crashes(story: LogStory, outages: Sequence[Outage]) -> Iterator[Incident]:
    """Yield the crashes of servers with what moved because of them."""
    for outage in outages:
        if outage.planned:
            continue
        was_controller = led_quorum(story, outage.node, outage.down_ms)
        successor = successor_of(story, outage.node, outage.down_ms)
        if was_controller and successor is not None:
            yield incident(
                "controller_failover",
                "controller-crash",
                {"controller": outage.node, "broker": outage.node},
                [*outage.events, successor],
                f"Node {outage.node}, the active controller, died; node "
                f"{successor.fields.get('controller', '?')} took over.",
                "Find out why the process died (kernel log, hs_err file, OOM); the cluster has moved on by itself.",
                t_start_ms=outage.down_ms,
            )
        if not outage.is_broker:
            continue
        moved = _coordinator_moves(story, outage)
        affected = _affected(story, outage)
        elsewhere = _coordinated_elsewhere(story, outage)
        has_failed_over = bool(moved) or any(story.transactional_id(event) not in elsewhere for event in affected)
        if was_controller and successor is not None and not has_failed_over:
            continue
        homes = _coordinator_partitions(story)
        ids = _concerned(story, affected, homes, moved)
        partitions = {homes[one] for one in ids if one in homes and (not moved or homes[one] in moved)}
        yield incident(
            "coordinator_failover" if has_failed_over else "broker_crash",
            "broker-crash",
            {"broker": outage.node, "transactional.ids": ids, "topic-partitions": tuple(sorted(partitions))},
            [*outage.events, *first_of_each(story, [*moved.values()]), *first_of_each(story, affected)],
            f"Broker {outage.node} died without having been asked to stop; "
            f"{count_text(len(moved), 'partition')} of __transaction_state got another coordinator.",
            "Find out why the process died. Producers go on by themselves once the new coordinators have loaded.",
            t_start_ms=outage.down_ms,
            t_end_ms=max([outage.up_ms or outage.down_ms, *(time_of(event) for event in moved.values())]),
        )


def _coordinator_moves(story: LogStory, outage: Outage) -> dict[str, LogEvent]:
    """Return who took over which partition of the transaction log.

    A broker tells of its election again when anything about a partition changes (up to 3.7): only an epoch that nobody
    had before is a move, and the first one of a partition never is.
    """
    moved: dict[str, LogEvent] = {}
    known = set()
    for event in story.of("COORDINATOR_LOAD"):
        if "txn coordinator" not in event.message:
            continue
        elected = event.fields.get("coordinator_partition", ""), event.fields.get("coordinator_epoch")
        soon = outage.down_ms <= time_of(event) <= outage.down_ms + FAILOVER_MS
        if soon and event.fields.get("broker") != outage.node and elected not in known and elected[1] != "0":
            moved.setdefault(_TOPIC + elected[0], event)
        known.add(elected)
    return moved


def _affected(story: LogStory, outage: Outage) -> list[LogEvent]:
    """Return what transactional clients printed about the node while it was away; not those that started later."""
    until = (outage.up_ms or outage.down_ms + FAILOVER_MS) + SHORTAGE_GAP_MS
    return [
        event
        for event in story.client_events("NETWORK_DISCONNECT", "COORDINATOR_DISCOVERED", "VERIFICATION_UNAVAILABLE")
        if outage.down_ms - 1000 <= time_of(event) <= until
        and names_node(event.message, outage.node)
        and story.transactional_id(event)
        and story.log_start_ms(event) <= (outage.up_ms or until)
    ]


def _coordinator_partitions(story: LogStory) -> dict[str, str]:
    """Return the partition of the transaction log of each transactional id, as coordinators tell it."""
    return {
        event.fields["transactional_id"]: event.fields["coordinator_partition"]
        for event in story.of("INIT_PRODUCER_ID")
        if event.fields.get("transactional_id") and event.fields.get("coordinator_partition")
    }


def _coordinated_elsewhere(story: LogStory, outage: Outage) -> set[str]:
    """Return the transactional ids that were last initialised by another broker than the one that was lost."""
    last = {
        event.fields["transactional_id"]: event.fields.get("broker")
        for event in story.server_events("INIT_PRODUCER_ID")
        if event.fields.get("transactional_id") and time_of(event) < outage.down_ms
    }
    return {one for one, broker in last.items() if broker and broker != outage.node}


def _concerned(
    story: LogStory, affected: Sequence[LogEvent], homes: Mapping[str, str], moved: Collection[str]
) -> tuple[str, ...]:
    """Return the ids of those who felt it, and those with a moved coordinator whose clients' logs name no id."""
    felt = {story.transactional_id(event) for event in affected}
    nameless = {one for one, home in homes.items() if home in moved and one not in story.ids_of_clients}
    return tuple(sorted(felt | nameless))
