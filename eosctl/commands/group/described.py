"""``eosctl group list`` and ``group describe``: groups of all types, their members, and what they wait for."""

from __future__ import annotations

from eosctl.command_line.invocation import Invocation
from eosctl.commands.emit import emit
from eosctl.commands.gate import RequireComplete
from eosctl.commands.group.offsets import Groups, requested
from eosctl.commands.options import EvidenceOptions, LooksOptions, ResultOptions
from eosctl.commands.session import perform
from eosctl.errors import ExitCode
from eosctl.render.transactions.groups import render_described, render_groups
from eosctl.services.groups import GroupsRequest, describe_groups, list_groups


def show_groups(
    invocation: Invocation,
    groups: Groups = None,
    *,
    source: EvidenceOptions,
    result: ResultOptions,
    require_complete: RequireComplete = False,
) -> None:
    """List groups with their type, state, and members.

    Shows groups of all types: classic, consumer, share, and streams groups, and those of Connect.

    Examples:
        eosctl group list -b kafka-1:9092
        eosctl group list -b kafka-1:9092 -o json
    """
    request = GroupsRequest(tuple(groups or ()), source.cluster.connection, source.snapshot)
    snapshot = perform(list_groups, request, invocation)
    text = render_groups(snapshot, invocation.now_ms(), result.output, invocation.style())
    emit(text, result, snapshot.gaps, ExitCode.DONE, complete=require_complete)


def show_group(
    invocation: Invocation,
    groups: Groups = None,
    *,
    looks: LooksOptions,
    result: ResultOptions,
    require_complete: RequireComplete = False,
) -> None:
    """Describe groups: members, partitions, and topology.

    Shows the partitions of each member and the lag of each partition. Of a share group also the records that were
    delivered and are not acknowledged, and its settings; of a streams group the subtopologies, missing or wrong topics,
    and the topology epoch of each member.

    Examples:
        eosctl group describe billing -b kafka-1:9092
        eosctl group describe billing -b kafka-1:9092 -o json
    """
    found = perform(describe_groups, requested(groups, looks), invocation)
    text = render_described(
        found.snapshot, found.lags, found.topics, invocation.now_ms(), result.output, invocation.style()
    )
    emit(text, result, found.snapshot.gaps, ExitCode.DONE, complete=require_complete)
