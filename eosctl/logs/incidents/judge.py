"""Make one incident of all that shows one fault, and complete it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import Final, NamedTuple

from eosctl.logs.classifier.catalog import acting_categories, load_incidents
from eosctl.logs.incidents.detectors import find_incidents
from eosctl.logs.incidents.explained import BEFORE_MS, Causes, spans_of
from eosctl.logs.incidents.joining.abandoned import join_abandoned
from eosctl.logs.incidents.joining.absent_brokers import name_absent_brokers
from eosctl.logs.incidents.joining.advertised import name_advertised
from eosctl.logs.incidents.joining.affected_tasks import name_affected_tasks
from eosctl.logs.incidents.joining.blocked_threads import name_blocked_threads
from eosctl.logs.incidents.joining.broker_faults import join_broker_faults
from eosctl.logs.incidents.joining.closed_requests import name_closed_requests
from eosctl.logs.incidents.joining.consequences import fold_consequences, fold_records
from eosctl.logs.incidents.joining.coordinator_logs import join_coordinator_logs
from eosctl.logs.incidents.joining.devices import join_device_errors
from eosctl.logs.incidents.joining.effects import join_effects
from eosctl.logs.incidents.joining.failed_loads import join_failed_loads
from eosctl.logs.incidents.joining.group_transactions import join_group_transactions
from eosctl.logs.incidents.joining.held_offsets import join_held_offsets
from eosctl.logs.incidents.joining.kills import join_kills
from eosctl.logs.incidents.joining.lagging_followers import join_lagging_followers
from eosctl.logs.incidents.joining.last_words import join_last_words
from eosctl.logs.incidents.joining.missing_topics import join_missing_topics
from eosctl.logs.incidents.joining.pauses import name_pauses
from eosctl.logs.incidents.joining.pods import join_pods
from eosctl.logs.incidents.joining.process_ends import join_process_ends
from eosctl.logs.incidents.joining.recoveries import join_recoveries
from eosctl.logs.incidents.joining.refused_epochs import join_refused_epochs
from eosctl.logs.incidents.joining.refused_registrations import join_refused_registrations
from eosctl.logs.incidents.joining.refused_voters import join_refused_voters
from eosctl.logs.incidents.joining.related import join_related
from eosctl.logs.incidents.joining.repeats import join_repeats
from eosctl.logs.incidents.joining.reported_again import join_reported_again
from eosctl.logs.incidents.joining.returns import join_loops, join_returns
from eosctl.logs.incidents.joining.rolled_back_clients import join_rolled_back_clients
from eosctl.logs.incidents.joining.server_ends import join_server_ends
from eosctl.logs.incidents.joining.shared_faults import join_shared_faults
from eosctl.logs.incidents.joining.short_targets import name_short_targets
from eosctl.logs.incidents.joining.slow_initializations import join_slow_initializations
from eosctl.logs.incidents.joining.slow_loads import name_slow_loads
from eosctl.logs.incidents.joining.stages import name_stages
from eosctl.logs.incidents.joining.stalled_servers import name_stalled_servers
from eosctl.logs.incidents.joining.still_away import name_still_away
from eosctl.logs.incidents.joining.triggers import name_triggers
from eosctl.logs.incidents.joining.two_sides import join_two_sides
from eosctl.logs.incidents.joining.unclean_elections import join_unclean_elections
from eosctl.logs.incidents.joining.unreached import join_unreached, name_unreached_drops
from eosctl.logs.incidents.joining.waiting_servers import join_ended_zookeeper, join_waiting_servers
from eosctl.logs.incidents.naming.client_outcomes import read_outcomes
from eosctl.logs.incidents.naming.expulsions import name_cycles
from eosctl.logs.incidents.naming.failed_transactions import name_failed_transactions
from eosctl.logs.incidents.naming.first_attempts import name_first_attempts
from eosctl.logs.incidents.naming.known_owners import name_known_owners
from eosctl.logs.incidents.naming.losses import sum_losses
from eosctl.logs.incidents.naming.old_clients import name_old_clients
from eosctl.logs.incidents.naming.outcomes import settle_outcomes
from eosctl.logs.incidents.naming.program_outcomes import name_program_outcomes
from eosctl.logs.incidents.naming.program_subjects import name_programs
from eosctl.logs.incidents.naming.reasons import quote_reasons
from eosctl.logs.incidents.naming.received_lengths import name_received_lengths
from eosctl.logs.incidents.naming.refusal_reasons import name_refusals
from eosctl.logs.incidents.naming.refused_offsets import name_refused_offsets
from eosctl.logs.incidents.naming.start_faults import name_start_faults
from eosctl.logs.incidents.naming.subjects import complete_subjects
from eosctl.logs.incidents.naming.unstored_groups import name_unstored_groups
from eosctl.logs.incidents.remaining.cataloged import find_cataloged
from eosctl.logs.incidents.remaining.lasting import is_final
from eosctl.logs.incidents.remaining.split_records import without_heads
from eosctl.logs.incidents.remaining.unexplained import find_unexplained
from eosctl.logs.incidents.remaining.unknown_errors import find_unknown_errors
from eosctl.logs.incidents.servers.shortages import name_lagging
from eosctl.logs.incidents.servers.single_replicas import name_single_replicas
from eosctl.logs.incidents.test_runs import TestRuns, without_tests
from eosctl.logs.incidents.timeline.announced import GUESSED
from eosctl.logs.incidents.timeline.restated import restate
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.titles import is_title
from eosctl.logs.incidents.timeline.undated import without_assumed_times
from eosctl.model.any_program import names_kafka, shows_kafka
from eosctl.model.incident import Incident
from eosctl.model.log_event import UNCLASSIFIED, LogEvent, SourceSummary

_Step = Callable[[LogTimeline, Sequence[Incident]], Iterable[Incident]]
#: The steps that make the records of one fault one incident, each for the results of those before it.
_JOINING: Final[tuple[_Step, ...]] = (
    join_kills,
    join_device_errors,
    join_effects,
    join_refused_registrations,
    join_waiting_servers,
    join_lagging_followers,
    join_unreached,
    name_slow_loads,
    name_pauses,
    name_stalled_servers,
    name_short_targets,
    name_blocked_threads,
    fold_consequences,
    name_stages,
    name_unreached_drops,
    name_advertised,
    name_closed_requests,
    join_missing_topics,
    join_failed_loads,
    join_unclean_elections,
    join_reported_again,
    join_two_sides,
    join_refused_epochs,
    join_rolled_back_clients,
    join_group_transactions,
)
#: The steps that complete an incident: its subject, cause, repetitions, outcome, and what its program said.
_NAMING: Final[tuple[_Step, ...]] = (
    name_lagging,
    name_single_replicas,
    complete_subjects,
    join_abandoned,
    join_held_offsets,
    name_refusals,
    join_refused_voters,
    name_old_clients,
    name_received_lengths,
    name_failed_transactions,
    name_first_attempts,
    name_refused_offsets,
    read_outcomes,
    name_cycles,
    join_returns,
    join_coordinator_logs,
    join_related,
    lambda _, incidents: join_repeats(incidents),
    join_loops,
    settle_outcomes,
    sum_losses,
    quote_reasons,
    name_triggers,
    name_unstored_groups,
    name_program_outcomes,
)
#: The steps for all incidents, those of unknown errors too.
_ENDING: Final[tuple[_Step, ...]] = (
    name_still_away,
    name_absent_brokers,
    name_affected_tasks,
    join_server_ends,
    name_start_faults,
    join_ended_zookeeper,
    join_broker_faults,
    join_shared_faults,
    join_process_ends,
    join_recoveries,
    join_slow_initializations,
    join_pods,
    name_programs,
    name_known_owners,
)

_BY_PRODUCER: Final = frozenset(
    ["invalid_producer_epoch", "late_append_refused", "out_of_order_sequence", "transactional_id_authorization"]
)

_OF_DEVELOPERS: Final = "Create a new producer"
_OF_USERS: Final = "Restart the program for a new producer"


class Judgment(NamedTuple):
    """The result for a set of logs: incidents, earliest first, and records that call for action without an incident."""

    incidents: tuple[Incident, ...]
    unexplained: tuple[LogEvent, ...]


def judge_logs(events: Sequence[LogEvent], sources: Sequence[SourceSummary]) -> Judgment:
    """Find the incidents in a set of logs.

    Args:
        events: The events of a scan, in any order. Events without a time are not evidence of any incident.
        sources: The summaries of the same files.
    """
    return judge_timeline(LogTimeline(events, sources), events)


def judge_timeline(timeline: LogTimeline, events: Sequence[LogEvent]) -> Judgment:
    """Find the incidents of a timeline; ``events`` are those that it was made of."""
    known, acting = load_incidents(), acting_categories()
    events = [timeline.by_place.get((one.file, one.offset), one) if is_title(one) else one for one in events]
    # What any program may log is not a fault of Kafka where nothing shows one: it is left as records to judge.
    is_of_kafka = shows_kafka(events) or any(names_kafka(one.beginning) for one in timeline.sources)
    found = [_doubted(one, timeline.guessed_ids) for one in find_incidents(timeline)] if is_of_kafka else []
    causes = Causes(found)
    kept = [one for one in found if not causes.explain(one)]
    open_records = find_unexplained(timeline, events, found, acting | known.keys())
    left = tuple(without_heads(timeline, restate(timeline, open_records)))
    cataloged = tuple(find_cataloged(timeline, left, known)) if is_of_kafka else ()
    of_catalog = (_doubted(one, timeline.guessed_ids) for one, _ in cataloged)
    joined = fold_records(timeline, _stepped(timeline, (*_merged(kept), *of_catalog), _JOINING), left)
    joined = join_last_words(timeline, joined, left)
    single = _name_components(joined, events)
    named = _stepped(timeline, single, _NAMING)
    noted = {(place.file, place.offset) for one in named for place in one.evidence}
    open_errors = (one for one in left if is_of_kafka and (one.file, one.offset) not in noted)
    unknown = find_unknown_errors(timeline, open_errors, named)
    settled = _stepped(timeline, (*named, *join_repeats(unknown)), _ENDING)
    tests = TestRuns(timeline)
    incidents = sorted(
        without_assumed_times(timeline, without_tests(timeline, settled, tests)),
        key=lambda one: (one.t_start_ms, one.kind, str(one.subject)),
    )
    covered = {(one.file, one.offset) for _, records in cataloged for one in records}
    covered |= {(place.file, place.offset) for one in (*joined, *settled) for place in one.evidence}
    open_ones = {(one.file, one.offset): one for one in left if _is_open(one, acting, covered)}
    # The timeline completes names; the time stays the one that the record carries.
    read = {place: event for event in events if (place := (event.file, event.offset)) in open_ones}
    unexplained = tuple(
        one._replace(time_ms=read[place].time_ms, time_assumed=read[place].time_assumed)
        for place, one in open_ones.items()
        if not (one.time_ms is not None and tests.cover(one))
    )
    return Judgment(tuple(incidents), unexplained)


def _stepped(timeline: LogTimeline, incidents: Iterable[Incident], steps: Sequence[_Step]) -> tuple[Incident, ...]:
    """Return the incidents after each step in order."""
    for step in steps:
        incidents = tuple(step(timeline, tuple(incidents)))
    return tuple(incidents)


def _is_open(event: LogEvent, acting: Set[str], covered: Set[tuple[str, int]]) -> bool:
    """Return whether a record still calls for action, because no incident covers it."""
    is_serious = event.category in acting or event.category == UNCLASSIFIED or is_final(event)
    return is_serious and (event.file, event.offset) not in covered


def judge_incidents(events: Iterable[LogEvent], sources: Sequence[SourceSummary] = ()) -> tuple[Incident, ...]:
    """Return the incidents that no other one explains, earliest first; see ``judge_logs``."""
    return judge_logs(tuple(events), sources).incidents


def _doubted(one: Incident, guessed_ids: Set[str]) -> Incident:
    """Return an incident with its confidence capped if its transactional id is a guess."""
    is_guess = one.subject.get("transactional.id") in guessed_ids
    return one._replace(confidence=min(one.confidence, GUESSED)) if is_guess else one


def _merged(incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Merge an incident without a transactional id into the one of the same kind and time that has one.

    A client that does not print its id and a broker that does report the same fault.
    """
    order = {id(one): number for number, one in enumerate(incidents)}
    named: dict[tuple[str, str], list[Incident]] = {}
    for one in incidents:
        if one.subject.get("transactional.id"):
            named.setdefault((one.kind, one.root_cause), []).append(one)
    homes = {fault: spans_of(ones) for fault, ones in named.items() if fault[0] in _BY_PRODUCER}
    extra: dict[int, list[Incident]] = {}
    for one in incidents:
        spans = homes.get((one.kind, one.root_cause))
        if spans is None or one.subject.get("transactional.id"):
            continue
        near = spans.touching(one.t_start_ms - BEFORE_MS, one.t_end_ms + BEFORE_MS)
        home = min(near, key=lambda other: order[id(other)], default=None)
        if home is not None:
            extra.setdefault(id(home), []).append(one)
    absorbed = {id(one) for group in extra.values() for one in group}
    for one in incidents:
        if id(one) not in absorbed:
            group = [one, *extra.get(id(one), ())]
            yield one._replace(
                t_start_ms=min(part.t_start_ms for part in group),
                t_end_ms=max(part.t_end_ms for part in group),
                evidence=tuple(dict.fromkeys(place for part in group for place in part.evidence)),
            )


def _name_components(incidents: Iterable[Incident], events: Iterable[LogEvent]) -> Iterator[Incident]:
    """Yield incidents with the sources or sinks of a pipeline that all evidence with such a name names.

    One process of Vector or Fluent Bit runs many of them, so the process does not identify the client.
    """
    named = {(one.file, one.offset): component for one in events if (component := one.fields.get("component"))}
    for one in incidents:
        places = ((place.file, place.offset) for place in one.evidence) if named else ()
        found = sorted({named[place] for place in places if place in named})
        several = {"components": tuple(found)} if found else {}
        step = one.next_step
        if len(found) == 1:
            # Only its developers can change how such a program makes its clients.
            step = step.replace(_OF_DEVELOPERS, _OF_USERS, 1)
        subject = {**one.subject, **({"component": found[0]} if len(found) == 1 else several)}
        yield one._replace(subject=subject, next_step=step)
