"""Brokers whose command lays settings over a file that several commands share, or that is not among the files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from eosctl.model.deployment import Place, Role
from eosctl.settings.platforms.readers import is_read
from eosctl.settings.platforms.workload import Workload
from eosctl.settings.programs.kafka_commands import part_of_one
from eosctl.settings.values.sources import Source


def with_overridden(sources: Iterable[Source], workloads: Iterable[Workload]) -> list[Source]:
    """Return the sources, and a broker for each command with ``--override`` whose settings no source has yet.

    It has the settings of its file below its own; without the file, the rest of its settings is not known.
    """
    found = list(sources)
    started = [one for one in workloads if one.overrides]
    if not started:
        return found
    brokers = [source for source in found if source.role is Role.BROKER]
    placed = {value.place for source in brokers for value in source.values.values()}
    for one in started:
        if not placed.isdisjoint(value.place for value in one.overrides.values()):
            continue
        first = next(iter(one.overrides.values()))
        place = first.place or Place(one.name, 1)
        name = one.name.rpartition("/")[2]
        own = _own(found, one.name, place.file)
        base = next((source for source in brokers if _reads(one, source)), None)
        if own is not None:  # its container's variables configure it, too
            found[own] = replace(found[own], values={**found[own].values, **one.overrides})
        elif base is None:
            part = part_of_one(dict(one.overrides), Role.BROKER, place, name)
            found.append(replace(part, described_by=f"{place.file} {name}"))
        else:
            values = {**base.values, **one.overrides}
            found.append(replace(base, values=values, label=name, place=place, recognized_by=first.key))
    return found


def _own(sources: Sequence[Source], part: str, file: str) -> int | None:
    """Return the index of a container's broker; variants of a Compose file in one folder have one each."""
    own = [at for at, one in enumerate(sources) if one.role is Role.BROKER and one.part_of == part]
    return next((at for at in own if sources[at].place.file == file), own[0] if own else None)


def _reads(workload: Workload, source: Source) -> bool:
    return is_read(source.held_by or source.place.file, workload.reads)
