"""Run all detectors on a timeline."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.logs.incidents.joining.kills import find_forced_kills
from eosctl.logs.incidents.members.blocked_rebalances import find_blocked_rebalances
from eosctl.logs.incidents.members.emptied_groups import find_emptied_groups
from eosctl.logs.incidents.members.empty_assignments import find_empty_assignments
from eosctl.logs.incidents.members.endless_joins import find_endless_joins
from eosctl.logs.incidents.members.evictions import find_evicted_members
from eosctl.logs.incidents.members.lasting_rebalances import find_lasting_rebalances
from eosctl.logs.incidents.members.missed_rejoins import find_missed_rejoins
from eosctl.logs.incidents.members.rebalance_loops import find_rebalance_loops
from eosctl.logs.incidents.members.restless_members import find_restless_members
from eosctl.logs.incidents.members.silent_members import find_silent_members
from eosctl.logs.incidents.producers.fencing import find_fenced_producers
from eosctl.logs.incidents.producers.lost_commits import find_lost_commits
from eosctl.logs.incidents.producers.markers import find_refused_markers
from eosctl.logs.incidents.producers.overdue import find_overdue_transactions
from eosctl.logs.incidents.producers.rollbacks import find_rollbacks
from eosctl.logs.incidents.producers.sequence_gaps import find_sequence_gaps
from eosctl.logs.incidents.producers.stuck_sequences import find_stuck_sequences
from eosctl.logs.incidents.producers.writes import (
    find_hanging_transactions,
    find_refused_writes,
    find_zombie_writers,
)
from eosctl.logs.incidents.programs.corruption_loops import find_corruption_loops
from eosctl.logs.incidents.programs.failed_streams import find_failed_streams
from eosctl.logs.incidents.programs.slow_processing import find_slow_processing
from eosctl.logs.incidents.programs.unclean_stops import find_unclean_stops
from eosctl.logs.incidents.refusals.cluster_denials import find_cluster_denials
from eosctl.logs.incidents.refusals.refusals import (
    find_denials,
    find_failed_log_dirs,
    find_large_records,
    find_settings,
)
from eosctl.logs.incidents.refusals.topic_denials import find_hidden_resources, find_topic_denials
from eosctl.logs.incidents.remaining.cut_requests import find_cut_requests
from eosctl.logs.incidents.remaining.recurring_losses import find_recurring_losses
from eosctl.logs.incidents.remaining.short_connections import find_short_connections
from eosctl.logs.incidents.remaining.unanswered_requests import find_unanswered_requests
from eosctl.logs.incidents.servers.clock_steps import find_clock_steps, is_part_of_step
from eosctl.logs.incidents.servers.failovers import find_crashes, find_stalled_brokers
from eosctl.logs.incidents.servers.interrupted_starts import find_interrupted_starts
from eosctl.logs.incidents.servers.leaderless_epochs import with_leaderless_epochs
from eosctl.logs.incidents.servers.long_recoveries import find_long_recoveries
from eosctl.logs.incidents.servers.outages import find_outages
from eosctl.logs.incidents.servers.planned_restarts import find_planned_restarts
from eosctl.logs.incidents.servers.quorum import find_lost_quorums
from eosctl.logs.incidents.servers.repeated_starts import find_repeated_starts
from eosctl.logs.incidents.servers.rolling_loops import find_rolling_loops
from eosctl.logs.incidents.servers.shortages import find_shortages, without_shortage
from eosctl.logs.incidents.servers.silent_leaders import find_silent_leaders
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.incident import Incident


def find_incidents(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield what each detector finds; several may see one fault, which ``judge_timeline`` makes one incident."""
    outages = find_outages(timeline)
    shortages = tuple(find_shortages(timeline, outages))
    yield from find_planned_restarts(without_shortage(outages, shortages))
    yield from shortages
    yield from find_crashes(timeline, outages)
    yield from with_leaderless_epochs(timeline, find_lost_quorums(timeline), outages)
    silent = tuple(find_silent_leaders(timeline, outages))
    yield from silent
    yield from find_stalled_brokers(timeline, outages, silent)
    yield from find_rolling_loops(timeline)
    interrupted = tuple(find_interrupted_starts(timeline))
    yield from interrupted
    yield from find_repeated_starts(timeline, interrupted)
    yield from find_long_recoveries(timeline)
    stepped = tuple(find_clock_steps(timeline))
    yield from stepped
    fenced = tuple(one for one in find_fenced_producers(timeline) if not is_part_of_step(one, stepped))
    yield from fenced
    lost = tuple(find_lost_commits(timeline))
    yield from lost
    written = tuple(find_zombie_writers(timeline))
    yield from written
    expired = (one for one in written if one.kind == "transaction_timeout")
    yield from find_rollbacks(timeline, (*stepped, *fenced, *lost, *expired))
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
    yield from find_sequence_gaps(timeline)
    yield from find_stuck_sequences(timeline)
    yield from find_slow_processing(timeline)
    yield from find_evicted_members(timeline)
    yield from find_silent_members(timeline)
    yield from find_emptied_groups(timeline)
    yield from find_rebalance_loops(timeline)
    yield from find_restless_members(timeline)
    yield from find_lasting_rebalances(timeline)
    yield from find_missed_rejoins(timeline)
    yield from find_blocked_rebalances(timeline)
    yield from find_endless_joins(timeline)
    yield from find_empty_assignments(timeline)
    yield from find_short_connections(timeline)
    yield from find_recurring_losses(timeline)
    yield from find_cut_requests(timeline)
    yield from find_unanswered_requests(timeline)
    yield from find_failed_streams(timeline)
    yield from find_corruption_loops(timeline)
    yield from find_unclean_stops(timeline)
    yield from find_forced_kills(timeline)
