"""Explain a JMX bean by what Kafka registers, where the catalog of metrics has no entry for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eosctl.knowledge.beans import Bean, find_beans
from eosctl.knowledge.protocol import releases_text
from eosctl.model.reference import Entry, EntryKind, Fact
from eosctl.text import count_text

MOST_ATTRIBUTES: Final = 40


def explain_beans(text: str) -> tuple[Entry, ...]:
    """Return an entry for each bean that a text names, by its JMX name, an attribute, or an exporter's name."""
    groups: dict[tuple[str, str], list[Bean]] = {}
    for bean in find_beans(text):
        groups.setdefault((bean.component, bean.pattern), []).append(bean)
    return tuple(map(_entry, groups.values()))


def _entry(beans: Sequence[Bean]) -> Entry:
    first = beans[0]
    attributes = sorted({name for bean in beans for name in bean.attributes})
    is_one = len(attributes) == 1 and not first.name
    described = first.description.rstrip(".") if is_one else ""
    means = f"{described}." if described else _meaning(first, len(attributes))
    facts = [Fact("registered by", first.component)]
    if not is_one:
        facts.append(Fact("attributes", _listed(attributes)))
    releases = tuple(dict.fromkeys(release for bean in beans for release in bean.releases))
    facts.append(Fact("releases", f"{releases_text(releases)}, as a running {first.component} registers it"))
    partial: dict[str, list[str]] = {}
    for bean in beans:
        if set(bean.releases) != set(releases):
            partial.setdefault(releases_text(bean.releases), []).extend(bean.attributes)
    facts += [Fact(f"only in {only}", _listed(sorted(names))) for only, names in partial.items()]
    name = f"{first.pattern} {attributes[0]}" if is_one else first.pattern
    return Entry(EntryKind.METRIC, name, means, facts=tuple(facts))


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_ATTRIBUTES
    return ", ".join(names[:MOST_ATTRIBUTES]) + (f", and {more} more" if more > 0 else "")


def _meaning(bean: Bean, count: int) -> str:
    if count == 1 or bean.name:
        return f"A metric of {_owner(bean)}. Kafka does not describe it."
    return f"A bean of {_owner(bean)} with {count_text(count, 'attribute')}; give one after it for its meaning."


def _owner(bean: Bean) -> str:
    return {"broker": "the broker", "streams": "Kafka Streams", "admin": "the admin client"}.get(
        bean.component, f"the {bean.component}"
    )
