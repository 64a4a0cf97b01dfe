"""Name the component of a pipeline in the subject of an incident: a source or sink of Vector or Fluent Bit.

One process runs many of them, so the process does not identify the client.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent


def name_components(incidents: Iterable[Incident], events: Iterable[LogEvent]) -> Iterator[Incident]:
    """Yield incidents with the component in the subject, where all evidence that names one names the same."""
    named = {(one.file, one.offset): component for one in events if (component := one.fields.get("component"))}
    for one in incidents:
        places = ((place.file, place.offset) for place in one.evidence) if named else ()
        found = {named[place] for place in places if place in named}
        yield one._replace(subject={**one.subject, "component": found.pop()}) if len(found) == 1 else one
