"""Diagnose the clusters of several profiles, some at a time."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from eosctl.errors import EosctlError, RequestTimedOut, UsageError
from eosctl.findings.diagnosis import CheckStatus
from eosctl.findings.fleet import ClusterRow, FleetFinding
from eosctl.model.severity import Severity
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.collect_evidence import EvidenceRequest, read_evidence
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from eosctl.services.diagnose import Diagnosed, diagnose_snapshot
from eosctl.services.event_loop import run
from eosctl.services.gate import read_gate
from eosctl.services.gate_options import GateOptions
from eosctl.services.notify import fleet_lines, resolve_address, send
from eosctl.services.profiles import find_profiles, profiles_file
from eosctl.services.run_history import SinceLast, compare_with_last
from eosctl.text import count_text

CLUSTERS_AT_A_TIME: Final = 4
_OF_ONE_CLUSTER: Final = ("EOSCTL_BOOTSTRAP_SERVERS", "EOSCTL_COMMAND_CONFIG")
_WILDCARDS: Final = "*?["

Read: TypeAlias = Callable[[EvidenceRequest, Callbacks], Awaitable[ClusterSnapshot]]
"""Collects the evidence of one cluster; raises `EosctlError` if it cannot be read."""


class FleetRequest(msgspec.Struct, frozen=True):
    """The clusters to diagnose.

    Attributes:
        pattern: A pattern that names of profiles match, with ``*``, ``?``, and ``[...]``.
        connection: Settings for all of them. Its timeout bounds the whole run.
        second_look_after_ms: The pause between the two passes over transactions, in milliseconds.
        gate: What decides the exit code of each.
        refused: The names of given options that are about one cluster alone.
        at_a_time: The number of clusters that are read concurrently.
        since_last: Whether each is compared with its previous run.
        notify: A webhook, or a reference to it, to which clusters that fail are sent. None for no message.
    """

    pattern: str
    connection: Connection = Connection()
    second_look_after_ms: int = 500
    gate: GateOptions = GateOptions()
    refused: tuple[str, ...] = ()
    at_a_time: int = CLUSTERS_AT_A_TIME
    since_last: bool = False
    notify: str | None = None


def is_pattern(profile: str | None) -> bool:
    """Return whether the name of a profile stands for several."""
    return profile is not None and any(wildcard in profile for wildcard in _WILDCARDS)


def diagnose_fleet(
    request: FleetRequest, callbacks: Callbacks = SILENT, environment: Mapping[str, str] = os.environ
) -> tuple[ClusterRow, ...]:
    """Diagnose every cluster whose profile matches, and return a row for each, ordered by profile.

    A cluster that cannot be read does not stop the others: its row has the reason.

    Args:
        request: The clusters.
        callbacks: Called while the clusters are read, with the profile in front of each remark.
        environment: The variables of the process.

    Raises:
        UsageError: No profile matches, or an option or the environment is about one cluster alone.
        ConfigFileError: The profiles, the rules, or the baseline cannot be read.
    """
    connection = request.connection
    of_one = {"-b": connection.bootstrap, "--command-config": connection.command_config}
    if given := (*request.refused, *(name for name, value in of_one.items() if value is not None)):
        raise UsageError(
            f"--profile {request.pattern!r} and {given[0]} were both given.",
            "The pattern names several clusters, and the option is about one.",
            "Leave one of them out, or name one profile.",
        )
    names = matching_profiles(request.pattern, environment)
    gate = read_gate(request.gate)
    address = None if request.notify is None else resolve_address(request.notify)
    evidence = run(lambda: read_fleet(names, request, callbacks))
    rows = []
    for name, found in zip(names, evidence, strict=True):
        callbacks.progress(f"checks of {name}")
        if isinstance(found, EosctlError):
            rows.append(_unread(name, found))
        else:
            diagnosed = diagnose_snapshot(found, gate, callbacks.now_ms())
            since = compare_with_last(diagnosed.diagnosis, callbacks.now_ms()) if request.since_last else None
            rows.append(_row(name, diagnosed, since))
    if address is not None and (lines := fleet_lines(rows)):
        try:
            send(address, lines)
        except EosctlError as error:
            callbacks.report_error(error)
    return tuple(rows)


def matching_profiles(pattern: str, environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the names of the profiles that match, ordered.

    Raises:
        UsageError: None matches, or the environment names one cluster for all of them.
        ConfigFileError: The file of the profiles cannot be read.
    """
    if common := next((name for name in _OF_ONE_CLUSTER if environment.get(name)), None):
        raise UsageError(
            f"{common} is set, and {pattern!r} names several clusters.",
            "The variable goes before the profiles, so every row would be about one cluster.",
            f"Unset it: unset {common}",
        )
    known = sorted(profile.name for profile in find_profiles())
    names = [name for name in known if fnmatchcase(name, pattern)]
    if not names:
        raise UsageError(
            f"No profile matches {pattern!r}.",
            f"{profiles_file()} has: {', '.join(known) or 'none'}.",
            "List them: eosctl profile list",
        )
    return names


async def _read(request: EvidenceRequest, callbacks: Callbacks) -> ClusterSnapshot:
    resolved = resolve_connection(request.connection, callbacks.remark, spent_ms=callbacks.spent_ms())
    return await read_evidence(resolved, request, callbacks)


async def read_fleet(
    names: Sequence[str], request: FleetRequest, callbacks: Callbacks, read: Read = _read
) -> list[ClusterSnapshot | EosctlError]:
    """Collect the evidence of each profile's cluster, or the error, in the order of the names.

    Args:
        names: The profiles.
        request: The settings for all of them.
        callbacks: Called while the clusters are read.
        read: Collects the evidence of one cluster.
    """
    loop = asyncio.get_running_loop()
    began_s, spent_ms = loop.time(), callbacks.spent_ms()
    lanes = asyncio.Semaphore(request.at_a_time)
    done = 0

    async def one(name: str) -> ClusterSnapshot | EosctlError:
        nonlocal done
        own = callbacks._replace(
            remark=lambda text: callbacks.remark(f"{name}: {text}"),
            progress=SILENT.progress,
            spent_ms=lambda: spent_ms,  # The rest is taken off the timeout.
        )
        async with lanes:
            try:
                connection = replace(_rest(request.connection, loop.time() - began_s), profile=name)
                wanted = EvidenceRequest(connection, second_look_after_ms=request.second_look_after_ms)
                return await read(wanted, own)
            except EosctlError as error:
                return error
            finally:
                done += 1
                callbacks.progress(f"{done} of {count_text(len(names), 'cluster')}")

    return list(await asyncio.gather(*map(one, names)))


def _rest(connection: Connection, spent_s: float) -> Connection:
    """Return the connection with what is left of the time for all clusters."""
    if connection.timeout_ms is None:
        return connection
    timeout_ms = connection.timeout_ms - round(spent_s * 1000)
    if timeout_ms <= 0:
        raise RequestTimedOut(
            "The time for all clusters was over before this one was read.",
            "Brokers of other clusters are slow, or there are many clusters.",
            "Allow more time with --timeout.",
        )
    return replace(connection, timeout_ms=timeout_ms)


def _unread(profile: str, error: EosctlError) -> ClusterRow:
    failure = f"{error.what} {error.why}".strip()
    return ClusterRow(profile=profile, exit_code=error.exit_code, failure=failure, next_step=error.next_step)


def _row(profile: str, diagnosed: Diagnosed, since: SinceLast | None) -> ClusterRow:
    diagnosis, grade, findings = diagnosed.diagnosis, diagnosed.grade, diagnosed.findings

    def count(severity: Severity) -> int:
        return sum(finding.severity is severity for finding in findings)

    worst = findings[0] if findings else None
    return ClusterRow(
        profile=profile,
        exit_code=diagnosed.exit_code,
        cluster_id=diagnosis.cluster_id,
        grade=grade.letter,
        score=grade.score if grade.is_given else None,
        critical=count(Severity.CRITICAL),
        error=count(Severity.ERROR),
        warning=count(Severity.WARNING),
        info=count(Severity.INFO),
        evaluated=diagnosis.count(CheckStatus.PASSED) + diagnosis.count(CheckStatus.FAILED),
        skipped=diagnosis.count(CheckStatus.SKIPPED),
        first="" if worst is None else f"{worst.check_id} {worst.title}: {worst.resource.name}",
        findings=tuple(
            FleetFinding(
                check_id=one.check_id,
                title=one.title,
                severity=one.severity.value,
                resource=str(one.resource),
                message=one.message,
                fix=one.remedy[0] if one.remedy else "",
                is_new=None if since is None or since.last_at_ms is None else one.fingerprint in since.new,
            )
            for one in findings
        ),
        not_evaluated=tuple(
            f"{one.check_id} {one.title}: {one.reason}"
            for one in diagnosis.results
            if one.status is CheckStatus.SKIPPED
        ),
        last_at_ms=None if since is None else since.last_at_ms,
        gone=() if since is None else since.gone,
    )
