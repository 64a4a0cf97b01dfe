"""Run all detectors, and remove the incidents that another one already explains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Final, NamedTuple

from eosctl.logs.classifier.catalog import acting_categories, load_incidents
from eosctl.logs.incidents.announced import GUESSED
from eosctl.logs.incidents.applications import find_failed_streams, find_slow_processing, find_unclean_stops
from eosctl.logs.incidents.cataloged import find_cataloged
from eosctl.logs.incidents.client_outcomes import read_outcomes
from eosctl.logs.incidents.clock_steps import find_clock_steps, is_part_of_step
from eosctl.logs.incidents.cluster_denials import find_cluster_denials
from eosctl.logs.incidents.consequences import fold_consequences, fold_records
from eosctl.logs.incidents.corruption_loops import find_corruption_loops
from eosctl.logs.incidents.effects import join_effects
from eosctl.logs.incidents.evictions import find_evicted_members, find_silent_members
from eosctl.logs.incidents.explained import BEFORE_MS, Causes, spans_of
from eosctl.logs.incidents.expulsions import name_cycles
from eosctl.logs.incidents.failed_transactions import name_failed_transactions
from eosctl.logs.incidents.failovers import find_crashes, find_stalled_brokers
from eosctl.logs.incidents.fencing import find_fenced_producers
from eosctl.logs.incidents.kills import find_forced_kills, join_kills
from eosctl.logs.incidents.lasting import is_final
from eosctl.logs.incidents.lost_commits import find_lost_commits
from eosctl.logs.incidents.markers import find_refused_markers
from eosctl.logs.incidents.outcomes import settle_outcomes
from eosctl.logs.incidents.overdue import find_overdue_transactions
from eosctl.logs.incidents.program_subjects import name_programs
from eosctl.logs.incidents.quorum import find_lost_quorums
from eosctl.logs.incidents.reasons import quote_reasons
from eosctl.logs.incidents.rebalance_loops import find_rebalance_loops
from eosctl.logs.incidents.refusal_reasons import name_refusals
from eosctl.logs.incidents.refusals import find_denials, find_failed_log_dirs, find_large_records, find_settings
from eosctl.logs.incidents.repeats import join_repeats
from eosctl.logs.incidents.rollbacks import find_rollbacks
from eosctl.logs.incidents.server_ends import join_server_ends
from eosctl.logs.incidents.servers import find_outages, find_planned_restarts
from eosctl.logs.incidents.shortages import find_shortages, name_lagging, without_shortage
from eosctl.logs.incidents.slow_loads import name_slow_loads
from eosctl.logs.incidents.subjects import complete_subjects
from eosctl.logs.incidents.test_runs import TestRuns, without_tests
from eosctl.logs.incidents.timeline import LogTimeline
from eosctl.logs.incidents.topic_denials import find_hidden_resources, find_topic_denials
from eosctl.logs.incidents.unexplained import find_unexplained
from eosctl.logs.incidents.unknown_errors import find_unknown_errors
from eosctl.logs.incidents.unreached import join_unreached, name_unreached_drops
from eosctl.logs.incidents.waiting_servers import join_waiting_servers
from eosctl.logs.incidents.writes import (
    find_hanging_transactions,
    find_refused_writes,
    find_sequence_gaps,
    find_zombie_writers,
)
from eosctl.model.incident import Incident
from eosctl.model.log_event import UNCLASSIFIED, LogEvent, SourceSummary

_BY_PRODUCER: Final = frozenset(
    ["invalid_producer_epoch", "late_append_refused", "out_of_order_sequence", "transactional_id_authorization"]
)


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
    found = [_doubted(one, timeline.guessed_ids) for one in _all(timeline)]
    causes = Causes(found)
    kept = [one for one in found if not causes.explain(one)]
    left = tuple(find_unexplained(timeline, events, found, acting | known.keys()))
    cataloged = [
        (_doubted(one, timeline.guessed_ids), records) for one, records in find_cataloged(timeline, left, known)
    ]
    effective = join_effects(timeline, join_kills(timeline, (*_merged(kept), *(one for one, _ in cataloged))))
    started = tuple(join_waiting_servers(timeline, tuple(effective)))
    joined = fold_consequences(timeline, tuple(name_slow_loads(timeline, join_unreached(timeline, started))))
    whole = fold_records(timeline, tuple(name_unreached_drops(timeline, joined)), left)
    single = tuple(complete_subjects(timeline, _name_components(name_lagging(timeline, whole), events)))
    tests = TestRuns(timeline)
    named = read_outcomes(timeline, name_failed_transactions(timeline, name_refusals(timeline, single)))
    settled = tuple(quote_reasons(timeline, settle_outcomes(timeline, join_repeats(name_cycles(timeline, named)))))
    noted = {(place.file, place.offset) for one in settled for place in one.evidence}
    unknown = find_unknown_errors(timeline, (one for one in left if (one.file, one.offset) not in noted))
    settled = tuple(name_programs(timeline, join_server_ends(timeline, (*settled, *join_repeats(unknown)))))
    incidents = sorted(
        without_tests(timeline, settled, tests), key=lambda one: (one.t_start_ms, one.kind, str(one.subject))
    )
    covered = {(one.file, one.offset) for _, records in cataloged for one in records}
    covered |= {(place.file, place.offset) for one in (*single, *settled) for place in one.evidence}
    open_ones = {(one.file, one.offset): one for one in left if _is_open(one, acting, covered)}
    # The timeline completes names; the time stays the one that the record carries.
    read = {place: event for event in events if (place := (event.file, event.offset)) in open_ones}
    unexplained = tuple(
        one._replace(time_ms=read[place].time_ms, time_assumed=read[place].time_assumed)
        for place, one in open_ones.items()
        if not (one.time_ms is not None and tests.cover(one))
    )
    return Judgment(tuple(incidents), unexplained)


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


def _all(timeline: LogTimeline) -> Iterator[Incident]:
    outages = find_outages(timeline)
    shortages = tuple(find_shortages(timeline, outages))
    yield from find_planned_restarts(without_shortage(outages, shortages))
    yield from shortages
    yield from find_crashes(timeline, outages)
    yield from find_lost_quorums(timeline)
    yield from find_stalled_brokers(timeline, outages)
    stepped = tuple(find_clock_steps(timeline))
    yield from stepped
    fenced = tuple(one for one in find_fenced_producers(timeline) if not is_part_of_step(one, stepped))
    yield from fenced
    lost = tuple(find_lost_commits(timeline))
    yield from lost
    yield from find_rollbacks(timeline, (*stepped, *fenced, *lost))
    yield from find_denials(timeline)
    yield from find_cluster_denials(timeline)
    yield from find_topic_denials(timeline)
    yield from find_hidden_resources(timeline)
    yield from find_settings(timeline)
    yield from find_large_records(timeline)
    yield from find_failed_log_dirs(timeline)
    yield from find_hanging_transactions(timeline)
    yield from find_overdue_transactions(timeline)
    yield from find_refused_writes(timeline)
    yield from find_refused_markers(timeline)
    yield from find_zombie_writers(timeline)
    yield from find_sequence_gaps(timeline)
    yield from find_slow_processing(timeline)
    yield from find_evicted_members(timeline)
    yield from find_silent_members(timeline)
    yield from find_rebalance_loops(timeline)
    yield from find_failed_streams(timeline)
    yield from find_corruption_loops(timeline)
    yield from find_unclean_stops(timeline)
    yield from find_forced_kills(timeline)


def _name_components(incidents: Iterable[Incident], events: Iterable[LogEvent]) -> Iterator[Incident]:
    """Yield incidents with the source or sink of a pipeline, where all evidence that names one names the same.

    One process of Vector or Fluent Bit runs many of them, so the process does not identify the client.
    """
    named = {(one.file, one.offset): component for one in events if (component := one.fields.get("component"))}
    for one in incidents:
        places = ((place.file, place.offset) for place in one.evidence) if named else ()
        found = {named[place] for place in places if place in named}
        yield one._replace(subject={**one.subject, "component": found.pop()}) if len(found) == 1 else one
