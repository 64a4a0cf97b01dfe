"""Know every JMX bean that Kafka's broker, clients, and Streams register (`beans.tsv`), by release.

The metrics that matter for exactly-once are in `eosctl.knowledge.metrics`, with their meaning and limits.
"""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.knowledge.releases import kafka_releases
from eosctl.model.metric import exporter_name

TABLE: Final = Path(__file__).with_name("beans.tsv")
COLUMNS: Final = ("component", "bean", "attributes", "releases", "description")
_KEY: Final = re.compile(r'([\w-]+)=("[^"]*"|[^,]*)')
#: The other keys have values that depend on the cluster.
_FIXED_KEYS: Final = frozenset({"type", "name", "state", "protocol"})
_OBJECT: Final = re.compile(
    r'(?P<bean>[\w.-]+:(?:[\w-]+=(?:"[^"]*"|[^,\s/"]*),?)+)(?:[\s/]+(?:attr=)?(?P<attribute>[\w-]+))?'
)
#: Names of one word, such as Count and state, mean many things.
_COMPOUND: Final = re.compile(r"\w-\w|[a-z][A-Z]|_")


class Bean(NamedTuple):
    """Attributes of a bean that have their releases and their description in common.

    Attributes:
        component: broker, producer, consumer, admin, or streams.
        pattern: The bean's name with sorted keys; variable values are the key in braces.
        attributes: Names of attributes.
        releases: The branches that register them, e.g. 3.9, of those that were read.
        description: Kafka's own description; empty without one.
    """

    component: str
    pattern: str
    attributes: tuple[str, ...]
    releases: tuple[str, ...]
    description: str

    @property
    def name(self) -> str:
        """Return the value of `name=`, which only beans of one metric have."""
        found = _keys(self.pattern).get("name", "")
        return "" if found.startswith("{") else found


def bean_pattern(name: str) -> str:
    """Return a bean's name with sorted keys, and variable values replaced by their keys in braces.

    >>> bean_pattern("kafka.producer:type=producer-metrics,client-id=app-1")
    'kafka.producer:client-id={client-id},type=producer-metrics'
    """
    domain = name.partition(":")[0]
    keys = sorted(_keys(name).items())
    return f"{domain}:" + ",".join(f"{key}={value if key in _FIXED_KEYS else f'{{{key}}}'}" for key, value in keys)


def _keys(name: str) -> Mapping[str, str]:
    return dict(_KEY.findall(name.partition(":")[2]))


@cache
def load_beans() -> tuple[Bean, ...]:
    """Return all beans, by component and name; none before the first release has been read."""
    if not TABLE.exists():
        return ()
    order = _branches()
    with TABLE.open(encoding="utf-8", newline="") as stream:
        rows = csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(rows)
        return tuple(
            Bean(component, pattern, tuple(attributes.split(",")), tuple(_expanded(releases, order)), description)
            for component, pattern, attributes, releases, description in rows
        )


def find_beans(text: str) -> tuple[Bean, ...]:
    """Return the beans that a text names: a bean, with or without an attribute, or any exporter's name of a series.

    With an attribute, the beans contain it alone.

    >>> find_beans("kafka.producer:type=producer-metrics,client-id=a txn-abort-time-ns-total")[0].attributes
    ('txn-abort-time-ns-total',)
    """
    if (found := _OBJECT.fullmatch(text.strip())) is not None:
        pattern, attribute = bean_pattern(found["bean"].rstrip(",")), found["attribute"]
        named = tuple(bean for bean in load_beans() if bean.pattern == pattern)
        if attribute is None:
            return named
        return tuple(bean._replace(attributes=(attribute,)) for bean in named if attribute in bean.attributes)
    return _by_name().get(_spelled(text), ()) if _COMPOUND.search(text) and " " not in text.strip() else ()


def is_bean_name(text: str) -> bool:
    """Return whether a text is the name of a bean, with or without an attribute, whether a release has it or not."""
    return _OBJECT.fullmatch(text.strip()) is not None


def suggest_beans(text: str) -> tuple[str, ...]:
    """Return the names of beans that are spelled like a bean's name, the likeliest first."""
    names = dict.fromkeys(bean.pattern for bean in load_beans())
    return tuple(difflib.get_close_matches(bean_pattern(text.strip()), names, n=3, cutoff=0.6))


@cache
def _by_name() -> Mapping[str, tuple[Bean, ...]]:
    """Return beans by the names of their metrics, and by the names that exporters give these, in one spelling."""
    found: dict[str, tuple[Bean, ...]] = {}
    for bean in load_beans():
        for name in (bean.name,) if bean.name else bean.attributes:
            one = bean if bean.name else bean._replace(attributes=(name,))
            domain, kind = bean.pattern.partition(":")[0], _keys(bean.pattern).get("type", "")
            for key in dict.fromkeys(map(_spelled, (name, exporter_name(domain, kind, name)))):
                found[key] = (*found.get(key, ()), one)
    return found


def _spelled(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


def _expanded(ranges: str, order: tuple[str, ...]) -> Iterator[str]:
    for part in ranges.split(","):
        first, _, last = part.partition("-")
        yield from order[order.index(first) : order.index(last or first) + 1]


def _branches() -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{release[0]}.{release[1]}" for release in kafka_releases()))
