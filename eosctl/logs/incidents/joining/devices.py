"""Name a failing disk as the cause of a broker's damaged or unusable files.

The kernel reports an error of a device in its own log, without the broker or the directory. The machine and the time
join it to what the broker on this machine could not read or write.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Final

from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.timeline.evidence import joined_evidence
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.incident import Incident
from eosctl.text import count_text, time_text

_FAILED: Final = "device_failed"
_DAMAGED: Final = kinds_with("damages_files")
BEFORE_MS: Final = 3_600_000
"""Maximum time from the last error of a disk until a broker reads or writes what it damaged."""
AFTER_MS: Final = 60_000
"""Maximum time by which the kernel reports an error later than the broker."""
_QUOTED: Final = 2
"""Maximum number of the kernel's records that are cited."""
_ADVICE: Final = "Replace the disk or what connects it (smartctl -a shows its state) before anything else. "


def join_device_errors(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; errors of a disk become the cause of the damage on the same machine."""
    found = list(incidents)
    causes: dict[int, list[Incident]] = defaultdict(list)
    absorbed: set[int] = set()
    for device in (one for one in found if one.kind == _FAILED):
        homes = [number for number, one in enumerate(found) if _is_damage(timeline, one, device)]
        for number in homes:
            causes[number].append(device)
            absorbed.add(id(device))
    for number, one in enumerate(found):
        if id(one) not in absorbed:
            yield _with_causes(one, causes[number]) if number in causes else one


def _is_damage(timeline: LogTimeline, one: Incident, device: Incident) -> bool:
    """Return whether an incident is about files of a broker on the machine and at the time of a disk's errors."""
    if one.kind not in _DAMAGED or not _is_near(one, device):
        return False
    servers = timeline.servers()
    written = [event for event in timeline.evidence(one) if event.application in servers]
    hosts = {event.host for event in written if event.host}
    host = str(device.subject.get("host", ""))
    if hosts:
        return host in hosts
    names = (name for event in written for name in (event.application, PurePath(event.file).name))
    if host and any(re.search(rf"(?<![\w-]){re.escape(host)}(?![\w.]*\d)", name) for name in names):
        return True
    return bool(written) and len(servers) == 1


def _is_near(one: Incident, device: Incident) -> bool:
    return device.t_end_ms >= one.t_start_ms - BEFORE_MS and device.t_start_ms <= one.t_start_ms + AFTER_MS


def _with_causes(one: Incident, devices: Sequence[Incident]) -> Incident:
    first = min(devices, key=lambda device: device.t_start_ms)
    names = sorted({str(name) for device in devices if (name := device.subject.get("device"))})
    records = sum(len(device.evidence) for device in devices)
    host = f" of {first.subject['host']}" if first.subject.get("host") else ""
    disk = f" of {', '.join(names)}" if names else " of a disk"
    text = (
        f"Cause: the kernel{host} reports errors{disk} ({count_text(records, 'record')}, first at "
        f"{time_text(first.t_start_ms)})."
    )
    return one._replace(
        t_start_ms=min(one.t_start_ms, first.t_start_ms),
        subject={**one.subject, **({"device": names[0]} if len(names) == 1 else {})},
        evidence=joined_evidence(*(device.evidence[:_QUOTED] for device in devices), one.evidence),
        explanation=f"{one.explanation} {text}",
        next_step=f"{_ADVICE}{one.next_step}",
    )
